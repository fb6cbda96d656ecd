"""Published problem sets, from their authors' records to ours; nothing is downloaded."""
