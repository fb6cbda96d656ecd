"""A puzzle of Knights and Knaves, its words, and how it is kept in a prompt's metadata.

Everybody is a knight, who always tells the truth, or a knave, who always lies; each person says one
thing. Source: R. Smullyan, What Is the Name of This Book? (1978).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from problems.knights.claims import Claim, WrongClaim, english, notation, parse

MOST_PEOPLE = 16
ASKED = (
    "On an island everybody is either a knight, who always tells the truth, or a knave, who always "
    "lies."
)
ANSWER = "Think first. Then say who is what, in one last line such as\nAnswer: {example}"


class WrongPuzzle(ValueError):
    """Metadata that hold no puzzle; says what was found and what was expected."""


@dataclass(frozen=True)
class Puzzle:
    """People by name, and what each of them says; the i-th claim is the i-th person's."""

    names: tuple[str, ...]
    claims: tuple[Claim, ...]

    @property
    def text(self) -> str:
        """The puzzle in English, and in which form its answer is wanted."""
        people = ", ".join(self.names[:-1]) + f" and {self.names[-1]}"
        said = [
            f'{name} says: "{_sentence(english(claim, self.names))}"'
            for name, claim in zip(self.names, self.claims, strict=True)
        ]
        example = ", ".join(f"{name} is a ..." for name in self.names)
        head = f"{ASKED} You meet {len(self.names)} of them: {people}."
        return "\n".join([head, *said, ANSWER.format(example=example)])

    @property
    def metadata(self) -> dict[str, object]:
        """What `of_metadata` reads again."""
        claims = [notation(claim, self.names) for claim in self.claims]
        return {"people": list(self.names), "claims": claims}


def told(is_knight: Sequence[bool], names: Sequence[str]) -> str:
    """Who is what, as an answer says it."""
    pairs = zip(names, is_knight, strict=True)
    return ", ".join(f"{name} is a {'knight' if knight else 'knave'}" for name, knight in pairs)


def of_metadata(metadata: Mapping[str, object]) -> Puzzle:
    """The puzzle that a prompt's metadata hold.

    Raises WrongPuzzle.
    """
    names, claims = (_texts(metadata, key) for key in ("people", "claims"))
    if not 1 <= len(names) <= MOST_PEOPLE or len(set(names)) != len(names):
        raise WrongPuzzle(f"`people` must be 1 to {MOST_PEOPLE} different names")
    if len(claims) != len(names):
        raise WrongPuzzle(f"{len(claims)} claims of {len(names)} people; each makes one")
    places = {name: place for place, name in enumerate(names)}
    try:
        return Puzzle(tuple(names), tuple(parse(claim, places) for claim in claims))
    except WrongClaim as error:
        raise WrongPuzzle(str(error)) from error


def _texts(metadata: Mapping[str, object], key: str) -> list[str]:
    value = metadata.get(key)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WrongPuzzle(f"the metadata have no `{key}`, a list of texts")
    return value


def _sentence(clause: str) -> str:
    return clause[0].upper() + clause[1:] + "."
