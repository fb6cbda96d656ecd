"""Problems with one right answer each: sets made by a seed, and published ones read as they are."""
