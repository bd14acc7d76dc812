"""Fuzzes ``sarg.decode``: filters of every Hive version, mutated as Kryo items, as object graphs and as bytes.

Invariants: a tree or a DecodeError, within bounds on time and memory; the same bytes give the same tree, also as Base64
text; the tree prints, binds and evaluates; and no outcome lacks the value of a row.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import sarg
from evaluator.language import expression as ex
from tests.fuzz.fuzzer import Fault, nothing_prepared
from tests.fuzz.known_tables import check_filter
from tests.fuzz.kryo_graph import mutate_graph
from tests.fuzz.kryo_items import Parsed, mutate_items, parsed
from tests.fuzz.smaller import smaller_bytes
from tests.sarg.corpus import VERSIONS, records

__all__ = ["KryoFuzzer", "seeds"]

_FORMS = ("kryo_base64", "kryo4_base64", "sarg_kryo_base64")
#: Longer filters are few, and slow to mutate.
_LONGEST = 20_000
_MAX_NODES_COMPARED = 5_000


@functools.cache
def seeds() -> tuple[bytes, ...]:
    """The distinct filters of the test data that real Hive wrote."""
    texts = {record.get(form) for version in VERSIONS for record in records(version) for form in _FORMS}
    return tuple(sorted((base64.b64decode(text) for text in texts if text and len(text) < _LONGEST), key=_by_digest))


def _by_digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


@functools.lru_cache(512)
def _parsed(number: int) -> Parsed:
    filter_ = parsed(seeds()[number])
    assert filter_ is not None, "a filter of real Hive cannot be read"
    return filter_


class KryoFuzzer:
    """A case is the bytes of a filter."""

    name = "kryo"
    cpu_seconds = 20.0
    memory = 384 << 20

    def prepared(self, folder: Path) -> AbstractContextManager[None]:
        del folder
        return nothing_prepared()

    def draw(self, rng: random.Random) -> bytes:
        filter_, other = (_parsed(rng.randrange(len(seeds()))) for _ in range(2))
        way = rng.random()
        if way < 0.6:
            try:
                return mutate_graph(rng, filter_, other)
            except (ValueError, KeyError, AttributeError, TypeError, StopIteration, ArithmeticError):
                pass  # a graph that the test writer cannot write
            except Exception as error:
                if type(error).__name__ != "error":  # struct.error
                    raise
        if way < 0.92:
            return mutate_items(rng, filter_, other)
        return _mutate_bytes(rng, filter_.data)

    def check(self, case: bytes) -> str:
        first, again = _decoded(case), _decoded(case)
        as_text = _decoded(base64.b64encode(case).decode()) if case[:1] == b"\x01" else first
        if isinstance(first, sarg.DecodeError):
            if not (isinstance(again, sarg.DecodeError) and str(first) == str(again)):
                raise Fault("the same bytes are refused in one way and then in another")
            if not isinstance(as_text, sarg.DecodeError):
                raise Fault("bytes are refused, and their Base64 text is read")
            if not 0 <= first.offset <= max(len(case), 1) or not first.why:
                raise Fault(f"the error names no place of the input: {first}")
            return "refused"
        for other in (again, as_text):
            if isinstance(other, sarg.DecodeError) or _form(other) != _form(first):
                raise Fault("the same filter decodes to two trees")
        check_filter(first.expression, case, "hive")
        return "decoded"

    def smaller(self, case: bytes) -> Iterator[bytes]:
        yield from smaller_bytes(case)

    def dump(self, case: bytes) -> bytes:
        return case

    def load(self, data: bytes) -> bytes:
        return data


def _decoded(data: bytes | str) -> sarg.Decoded | sarg.DecodeError:
    try:
        return sarg.decode_detailed(data)
    except sarg.DecodeError as error:
        return error


def _form(decoded: sarg.Decoded) -> tuple[object, ...]:
    """What two decodings share when they are the same: profile, the filter as text, and small trees in full."""
    tree = decoded.exprnode
    nodes = sum(1 for _ in ex.walk(decoded.expression))
    whole = json.dumps(tree.to_dict(), default=repr) if tree is not None and nodes < 50 else ""
    deep = list(map(repr, ex.walk(decoded.expression))) if nodes < 50 else []
    return decoded.profile, ex.to_text(decoded.expression), nodes, whole, deep


def _mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 6, 20))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(6):
            case 0 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                out[at : at + 1] = bytes([rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))])
            case 2:
                out[at:at] = rng.randbytes(rng.randrange(1, 9))
            case 3:
                del out[at : at + rng.choice((1, 2, 8, 100))]
            case 4:
                start = rng.randrange(len(out) + 1)
                out[at:at] = out[start : start + rng.randrange(60)]
            case _:
                if rng.random() < 0.2:
                    del out[max(1, at) :]
        if not out:
            return b"\x01"
    return bytes(out)
