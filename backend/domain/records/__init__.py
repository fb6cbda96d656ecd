"""Lines of imports, snapshots and exports as pure functions; no rule of ranking or of runs."""
