"""The puzzles, model, settings and tables of `paper_in_miniature`, which says what comes when."""
