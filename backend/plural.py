"""How many of something, in words: for sentences on screens, in errors and in reports."""


def plural(n: int, one: str, many: str | None = None) -> str:
    """Count something: 1 prompt, 1,250 prompts; `many`: the word for several, if not `one` + s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"
