"""One router per resource: it parses a request, makes one call and returns; no SQL, no rules."""
