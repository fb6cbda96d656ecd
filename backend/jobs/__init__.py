"""What lasts longer than a request may hold anything: done by child processes, shared by all who wait for it."""
