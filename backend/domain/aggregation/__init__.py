"""Several judgments of one comparison made into one, as pure functions; ids only, no text."""
