"""Rules and statistics as pure functions of values; no input, output, framework or clock."""
