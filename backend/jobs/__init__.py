"""Work that would hold a request too long, in child processes; training is in the worker."""
