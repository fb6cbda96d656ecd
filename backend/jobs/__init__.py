"""Work that lasts longer than a request may hold anything, done by child processes."""
