"""Work that lasts longer than a request may hold anything, in child processes; no runs."""
