"""Finding the answer in a response, and comparing answers exactly; plain text, no torch."""
