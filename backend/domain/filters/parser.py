"""The tree of a filter's text.

filter = or
or     = and { "OR" and }
and    = not { ["AND"] not }
not    = ( "NOT" | "-" ) not | "(" or ")" | term
term   = key operator value { "," value } | word
"""

import difflib
from collections.abc import Callable, Sequence
from typing import NoReturn

from backend.domain.filters.fields import FIELDS, OPEN_FIELDS, Key, key_of
from backend.domain.filters.tokens import Token, tokens
from backend.domain.filters.tree import EVERYTHING, And, Contains, Not, Or, Tree
from backend.domain.filters.values import term
from backend.errors import InvalidFilter

MOST_TERMS = 50
MOST_DEPTH = 12

_A_TERM = "a term such as `state:running`, or a word of the name"


def parsed(text: str) -> Tree:
    """What a filter says; nothing lets all runs through.

    Raises InvalidFilter with the place, what was found there and what was expected.
    """
    return _Parser(list(tokens(text))).whole()


class _Parser:
    def __init__(self, pieces: Sequence[Token]) -> None:
        self._pieces = pieces
        self._at = 0
        self._n_terms = 0

    @property
    def _next(self) -> Token:
        return self._pieces[self._at]

    def _take(self) -> Token:
        self._at += 1
        return self._pieces[self._at - 1]

    def whole(self) -> Tree:
        if self._next.kind == "end":
            return EVERYTHING
        tree = self._or(0)
        if self._next.kind != "end":
            self._fail("the end, or `(` before it")
        return tree

    def _or(self, depth: int) -> Tree:
        if depth > MOST_DEPTH:
            self._fail(f"at most {MOST_DEPTH} levels of brackets and negations")
        return self._joined(Or, self._and, depth, lambda: self._is_word("OR"))

    def _and(self, depth: int) -> Tree:
        return self._joined(And, self._not, depth, self._goes_on)

    def _joined(
        self,
        kind: type[Or] | type[And],
        inner: Callable[[int], Tree],
        depth: int,
        goes_on: Callable[[], bool],
    ) -> Tree:
        parts = [inner(depth)]
        while goes_on():
            if self._is_word("OR", "AND"):
                self._take()
            parts.append(inner(depth))
        return parts[0] if len(parts) == 1 else kind(tuple(parts))

    def _goes_on(self) -> bool:
        return self._next.kind not in ("end", "close") and not self._is_word("OR")

    def _is_word(self, *words: str) -> bool:
        return self._next.kind == "word" and self._next.text in words

    def _not(self, depth: int) -> Tree:
        if depth > MOST_DEPTH:
            self._fail(f"at most {MOST_DEPTH} levels of brackets and negations")
        if self._next.kind == "minus" or self._is_word("NOT"):
            self._take()
            return Not(self._not(depth + 1))
        if self._next.kind == "open":
            self._take()
            tree = self._or(depth + 1)
            if self._next.kind != "close":
                self._fail("`)`")
            self._take()
            return tree
        return self._term()

    def _term(self) -> Tree:
        piece = self._next
        if self._is_word("AND", "OR") or piece.kind not in ("word", "quoted", "key"):
            self._fail(_A_TERM)
        self._count()
        self._take()
        if piece.kind != "key":
            return Contains(Key("name"), piece.text.lower())
        key = key_of(piece.text)
        if key is None:
            raise _unknown(piece)
        operator = self._take()
        found = [self._value(key, operator)]
        while self._next.kind == "comma":
            self._must_list(operator)
            self._take()
            self._count()
            found.append(self._value(key, operator))
        tree = found[0] if len(found) == 1 else Or(tuple(found))
        return Not(tree) if operator.text == "!=" else tree

    def _value(self, key: Key, operator: Token) -> Tree:
        is_value = self._next.kind in ("word", "quoted")
        if not is_value or self._next.at != self._pieces[self._at - 1].end:
            self._fail(f"a value right after `{key}{operator.text}`")
        equal = operator._replace(text=":") if operator.text == "!=" else operator
        return term(key, equal, self._take())

    def _must_list(self, operator: Token) -> None:
        if operator.text not in (":", "=", "!="):
            self._fail(f"one value after `{operator.text}`; only `:` and `!=` take several")

    def _count(self) -> None:
        self._n_terms += 1
        if self._n_terms > MOST_TERMS:
            self._fail(f"at most {MOST_TERMS} terms")

    def _fail(self, expected: str) -> NoReturn:
        piece = self._next
        found = "the end" if piece.kind == "end" else f"`{piece.text[:50]}`"
        raise InvalidFilter(
            found=found, expected=expected, at=piece.at, length=piece.end - piece.at
        )


def _unknown(piece: Token) -> InvalidFilter:
    known = [*FIELDS, *(f"{name}.NAME" for name in OPEN_FIELDS)]
    meant = difflib.get_close_matches(piece.text.partition(".")[0], [*FIELDS, *OPEN_FIELDS], n=1)
    advice = f"Did you mean `{meant[0]}`?" if meant else None
    return InvalidFilter(
        found=f"the key `{piece.text[:50]}`",
        expected=f"one of {', '.join(known)}",
        at=piece.at,
        length=piece.end - piece.at,
        advice=advice,
    )
