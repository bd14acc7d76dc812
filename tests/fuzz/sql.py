"""Fuzzes ``handler.sql.parse``: conditions of a grammar, and mutated conditions of the test data, in every dialect.

Invariants: a tree or a SqlError, within bounds on time and memory; the same text gives the same tree; it prints, binds
and evaluates; and no outcome lacks the value that the row-by-row oracle gives for a row of random small tables.
"""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.language import expression as ex
from evaluator.language.expression import HudiExpression
from evaluator.language.semantics import ENGINES
from handler.sql import SqlError, parse
from tests.conformance.cases import cases
from tests.fuzz.fuzzer import Fault, nothing_prepared
from tests.fuzz.known_tables import check_filter
from tests.fuzz.smaller import without_pieces
from tests.fuzz.sql_grammar import SqlGrammar, tokens
from tests.sarg.corpus import VERSIONS, records

__all__ = ["SqlCase", "SqlFuzzer"]

_WORD = re.compile(r"'(?:[^'\\]|\\.|'')*'|\w+(?:\.\d+)?|\s+|<=>|[<>!=]=|.", re.DOTALL)
_LONGEST = 3_000


@dataclass(frozen=True)
class SqlCase:
    """A condition and the engine that reads it."""

    engine: str
    text: str


@functools.cache
def _real() -> tuple[str, ...]:
    """Conditions of the test data."""
    texts = {record["sql"] for version in VERSIONS for record in records(version)} | {one.sql for one in cases()}
    return tuple(sorted(text for text in texts if len(text) < _LONGEST))


class SqlFuzzer:
    """A case is a text and an engine."""

    name = "sql"
    cpu_seconds = 20.0
    memory = 512 << 20

    def prepared(self, folder: Path) -> AbstractContextManager[None]:
        del folder
        return nothing_prepared()

    def draw(self, rng: random.Random) -> SqlCase:
        text = SqlGrammar(rng).condition() if rng.random() < 0.6 else rng.choice(_real())
        if rng.random() < 0.4:
            text = _mutated(rng, text)
        return SqlCase(rng.choice(ENGINES), text)

    def check(self, case: SqlCase) -> str:
        first, again = _parsed(case), _parsed(case)
        if isinstance(first, SqlError):
            if str(first) != str(again) or not first.why:
                raise Fault("the same text is refused in one way and then in another, or without a reason")
            return "refused"
        if not isinstance(first, HudiExpression) or not isinstance(again, HudiExpression):
            raise Fault(f"the text is neither refused nor read: {first!r}")
        if ex.to_text(first) != ex.to_text(again):
            raise Fault("the same text gives two trees")
        check_filter(first, case.text.encode("utf-8", "surrogatepass"), case.engine)
        return "read"

    def smaller(self, case: SqlCase) -> Iterator[SqlCase]:
        for parts in without_pieces(_WORD.findall(case.text)):
            yield replace(case, text="".join(parts))
        if len(case.text) < 200:
            for parts in without_pieces(case.text):
                yield replace(case, text="".join(parts))

    def dump(self, case: SqlCase) -> bytes:
        return json.dumps([case.engine, case.text]).encode()

    def load(self, data: bytes) -> SqlCase:
        return SqlCase(*json.loads(data))


def _parsed(case: SqlCase) -> HudiExpression | SqlError:
    try:
        return parse(case.text, case.engine)  # type: ignore[arg-type]
    except SqlError as error:
        return error


def _mutated(rng: random.Random, text: str) -> str:
    """The text with one to four words or characters changed."""
    words = _WORD.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not words:
            break
        place = rng.randrange(len(words))
        match rng.randrange(9):
            case 0:
                del words[place]
            case 1 | 2:
                words[place] = rng.choice(tokens())
            case 3:
                words.insert(place, rng.choice(tokens()))
            case 4:
                other = rng.randrange(len(words))
                words[place], words[other] = words[other], words[place]
            case 5:
                words[place:place] = words[place : place + rng.randrange(1, 8)]
            case 6:
                words = words[:place] + _WORD.findall(rng.choice(_real()))[rng.randrange(4) :]
            case 7:
                word = list(words[place])
                word.insert(rng.randrange(len(word) + 1), chr(rng.choice((rng.randrange(128), rng.randrange(0x11000)))))
                words[place] = "".join(word)
            case _:
                words[place] = words[place] * rng.choice((2, 3, 30))
    return "".join(words)
