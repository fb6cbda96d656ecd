"""Problems with one right answer each, made by a seed or as published; no rewards."""
