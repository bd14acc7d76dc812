"""Fuzzes ``read_document``: conditions of Spark 3.5 and 4.1, mutated as Catalyst's nodes, as JSON and as bytes.

Invariants: a tree or a DocumentError, within bounds on time and memory; the same bytes give the same tree; it prints,
binds and evaluates; and no outcome lacks the value that the row-by-row oracle gives for a row of random small tables.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from evaluator.language import expression as ex
from evaluator.language.expression import HudiExpression
from handler.catalyst.document import DocumentError, read_document, without_run_numbers
from tests.fuzz.fuzzer import Fault, nothing_prepared
from tests.fuzz.known_tables import check_filter
from tests.fuzz.smaller import smaller_bytes
from tests.handler.catalyst.documents import document

__all__ = ["CatalystFuzzer", "seeds"]

_RECORDED = Path(__file__).parents[1] / "handler/spark/data"
_VERSIONS = ("3.5.5", "4.1.4")
_ZONE = "America/New_York"
_NODES = 2_000
_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 3, 1 << 40, 1 << 64, 1.5, float("nan"), "", "x", "5", "-7", "1E+999999", "9" * 50,
    "NaN", "-Infinity", "2020-01-01", "\x00", "🦄", [], {}, [None], [["integer", 3]], [["date", 18262], ["date", None]],
    {"base64": "AGE="},
    {"type": "struct", "fields": [{"name": "x", "type": "integer"}]}, "integer", "decimal(10,2)", "decimal(99,1)",
    "timestamp", "timestamp_ntz", "binary", "string", "date", "interval day", "double", "boolean",
)  # fmt: skip


@functools.cache
def _recorded() -> tuple[dict[str, Any], ...]:
    """Conditions of both versions, as the JSON of a document has them."""
    found = []
    for version in _VERSIONS:
        for by_text in json.loads((_RECORDED / f"catalyst_{version}.json").read_text("utf-8")).values():
            for one in by_text.values():
                sent = document((one["nodes"], {int(index): value for index, value in one["exact"].items()}))
                found += json.loads(sent)["conditions"]
    return tuple(found)


def seeds() -> tuple[bytes, ...]:
    """The recorded conditions, a document each."""
    return tuple(_document([one]) for one in _recorded())


def _document(conditions: list[Any]) -> bytes:
    return json.dumps({"version": 1, "conditions": conditions}).encode()


class CatalystFuzzer:
    """A case is the bytes of a document."""

    name = "catalyst"
    cpu_seconds = 20.0
    memory = 384 << 20

    def prepared(self, folder: Path) -> AbstractContextManager[None]:
        del folder
        return nothing_prepared()

    def draw(self, rng: random.Random) -> bytes:
        conditions = [copy.deepcopy(rng.choice(_recorded())) for _ in range(rng.choice((1, 1, 1, 2, 4)))]
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            _change_nodes(rng, rng.choice(conditions))
        data = _document(conditions)
        return _change_bytes(rng, data) if rng.random() < 0.2 else data

    def check(self, case: bytes) -> str:
        first, again = _read(case), _read(case)
        if isinstance(first, DocumentError) or isinstance(again, DocumentError):
            if str(first) != str(again):
                raise Fault("the same bytes are refused in one way and then in another")
            return "refused"
        if repr(first) != repr(again) or repr(first) != repr(_read(without_run_numbers(case))):
            raise Fault("the same bytes give two trees")
        if sum(1 for _ in ex.walk(first)) > _NODES:
            return "large"
        check_filter(first, case, "spark")
        return "read"

    def smaller(self, case: bytes) -> Iterator[bytes]:
        yield from smaller_bytes(case)

    def dump(self, case: bytes) -> bytes:
        return case

    def load(self, data: bytes) -> bytes:
        return data


def _read(case: bytes) -> HudiExpression | DocumentError:
    try:
        return read_document(case, _ZONE, max_nodes=_NODES)
    except DocumentError as error:
        return error


def _change_nodes(rng: random.Random, condition: dict[str, Any]) -> None:
    """One change: of a node, of one of its fields, of their order, or of what they leave out."""
    nodes, exact = condition["nodes"], condition["exact"]
    if not nodes:
        return
    at = rng.randrange(len(nodes))
    others = rng.choice(_recorded())["nodes"]
    other = copy.deepcopy(rng.choice(others))
    match rng.randrange(9):
        case 0:
            nodes[at]["class"] = other["class"]
        case 1 | 2:
            nodes[at] = {**other, "num-children": nodes[at].get("num-children")}
        case 3:
            nodes[at : at + 1] = copy.deepcopy(list(others))
        case 4 | 5:
            name = rng.choice((*nodes[at], "value", "dataType", "name", "ordinal", "num-children"))
            nodes[at][name] = rng.choice((*_ODD, other.get(name)))
        case 6:
            nodes[at].pop(rng.choice(tuple(nodes[at])))
        case 7:
            exact[str(rng.randrange(len(nodes) + 1))] = rng.choice(_ODD)
        case _:
            exact.pop(rng.choice((*exact, "")), None)
    if rng.random() < 0.05:
        nodes[0:0] = [{"class": "Not", "num-children": 1}] * rng.choice((10, 3_000))


def _change_bytes(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 3))):
        at = rng.randrange(len(out))
        match rng.randrange(4):
            case 0:
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                del out[at : at + rng.randrange(1, 30)]
            case 2:
                out[at:at] = rng.choice((b'"', b"{", b"[" * 500, b"1" * 400, b"\\ud800", b"\xff", b"NaN", b"1e999"))
            case _:
                out = out[: at + 1]
    return bytes(out)
