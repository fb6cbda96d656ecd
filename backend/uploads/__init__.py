"""Uploaded files: who may send one now, the file on disk, and its rows under limits; no records."""
