"""What a 95 % interval is: its two ends, and how far they are apart where a value is normal."""

Interval = tuple[float, float]  # low, high

# Of a normal distribution, 95 % lie within so many standard errors, 97.5 % below the upper end.
Z95 = 1.959964
