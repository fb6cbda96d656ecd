"""The reward term `length`: a band of words."""


def length_reward(text: str, *, low: int, high: int) -> float:
    """1 for low..high words, falling linearly to 0 at no words and at twice `high`."""
    n_words = len(text.split())
    if n_words < low:
        return n_words / low
    return max(0.0, 1.0 - max(0, n_words - high) / high)
