"""How far annotators agree, as pure functions; what is not defined is None, never 0 or 1."""
