"""A process beside the API that makes large answers; what they hold, nothing here knows."""
