"""What is kept of requests: traces and the newest hash of the audit log; no rule of access."""
