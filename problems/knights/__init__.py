"""Knights and Knaves: puzzles, their solver, how they are made, and how an answer is read."""
