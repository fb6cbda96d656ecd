"""What is kept of what was asked of the service: traces and the audit's head; no rule of access."""
