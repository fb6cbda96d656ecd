"""What lasts longer than a request may hold anything: done by children, shared by who waits."""
