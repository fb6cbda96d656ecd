"""Knights and Knaves: puzzles, solver, generator, how an answer is read; no rewards."""
