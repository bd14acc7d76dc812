"""Fuzzes the readers of a table's files: small real tables with damage to some of their files.

Invariants: an error of ours, or a plan that lists every file of the slices that hold rows, skips none with a matching
row, and takes none for fully matched that holds another row.
Damage that makes another table of it (``is_decisive``) may only end in an answer or an error of ours.
"""

from __future__ import annotations

import base64
import contextlib
import json
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluator.language.errors import SargoError
from handler import Plan, open_table, prune
from tests.fuzz.fuzzer import Fault
from tests.fuzz.smaller import without_pieces
from tests.fuzz.table_damage import Edit, drawn_edit, is_decisive, put_back, put_down
from tests.torture.tables import Query, subject

__all__ = ["TABLES", "TableCase", "TableFuzzer"]

TABLES = (
    "0.15.0_archived_mor",
    "0.15.0_replaced_mor",
    "0.15.0_evolved_cow",
    "1.0.2_replaced_mor",
    "1.0.2_archived_mor",
    "1.2.0_evolved_cow",
    "1.2.0_failed_mor",
    "1.2.0_partcols_cow",
    "1.2.0_replaced_mor",
    "1.2.0_expr_cow",
    "1.2.0_secondary_cow",
    "1.2.0_grown_mor",
)
#: Queries of a table, and how many of them are planned after each damage.
_QUERIES, _PLANNED = 40, 3


@dataclass(frozen=True)
class TableCase:
    """Damage to a table, and the number that its queries are drawn from."""

    table: str
    edits: tuple[Edit, ...]
    number: int


@dataclass
class _OnDisk:
    """A table on disk, its bytes, and what Spark found in it; ``listed``: by instant the files of each slice."""

    root: Path
    files: Mapping[str, bytes]
    metadata: list[str]
    queries: Sequence[Query]
    listed: dict[str | None, dict[str, set[str]]]


class TableFuzzer:
    """A case is a table and one to three damaged files of it."""

    name = "table"
    cpu_seconds = 20.0
    memory = 256 << 20

    @contextlib.contextmanager
    def prepared(self, folder: Path) -> Iterator[None]:
        self._folder = folder
        self._subjects: dict[str, _OnDisk] = {}
        yield

    def _subject(self, name: str) -> _OnDisk:
        if name not in self._subjects:
            table, root = subject(name, _QUERIES), self._folder / name
            for path, data in table.files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(data)
            opened = open_table(root, cache=None)
            listed = {
                as_of: {one.file_id: set(one.files) for one in opened.at(as_of).slices}
                for as_of in {query.as_of for query in table.queries}
            }
            metadata = sorted(path for path in table.files if path.startswith(".hoodie/"))
            self._subjects[name] = _OnDisk(root, table.files, metadata, table.queries, listed)
            assert _verdict(self._subjects[name], table.queries) == "planned"
        return self._subjects[name]

    def draw(self, rng: random.Random) -> TableCase:
        name = rng.choice(TABLES)
        table = self._subject(name)
        everything = sorted(set(table.files) - {"_oracle.json"})
        edits = {}
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            edit = drawn_edit(rng, table.files, everything if rng.random() < 0.05 else table.metadata)
            edits[edit.path] = edit
        return TableCase(name, tuple(edits.values()), rng.randrange(1 << 32))

    def check(self, case: TableCase) -> str:
        table = self._subject(case.table)
        chosen = random.Random(case.number).sample(table.queries, min(_PLANNED, len(table.queries)))
        is_same_table = not any(is_decisive(edit, table.files) for edit in case.edits)
        try:
            for edit in case.edits:
                put_down(table.root, edit)
            return _verdict(table, chosen, is_same_table=is_same_table)
        finally:
            for edit in case.edits:
                put_back(table.root, edit, table.files)

    def smaller(self, case: TableCase) -> Iterator[TableCase]:
        for edits in without_pieces(case.edits):
            yield replace(case, edits=tuple(edits))
        table = self._subject(case.table)
        for place, edit in enumerate(case.edits):
            whole = table.files.get(edit.path, b"")
            if edit.what != "write" or len(edit.data) != len(whole):
                continue
            changed = [at for at, (a, b) in enumerate(zip(edit.data, whole, strict=True)) if a != b]
            for kept in without_pieces(changed):
                data = bytearray(whole)
                for at in kept:
                    data[at] = edit.data[at]
                yield replace(
                    case, edits=(*case.edits[:place], replace(edit, data=bytes(data)), *case.edits[place + 1 :])
                )

    def dump(self, case: TableCase) -> bytes:
        edits: list[Any] = [[one.path, one.what, base64.b64encode(one.data).decode()] for one in case.edits]
        return zlib.compress(json.dumps([case.table, edits, case.number]).encode())

    def load(self, data: bytes) -> TableCase:
        name, edits, number = json.loads(zlib.decompress(data))
        return TableCase(name, tuple(Edit(path, what, base64.b64decode(text)) for path, what, text in edits), number)


def _verdict(table: _OnDisk, queries: Sequence[Query], *, is_same_table: bool = True) -> str:
    """How it ends: "refused" or "planned". Raises Fault for an answer that loses rows."""
    try:
        opened = open_table(table.root, cache=None)
        for query in queries:
            plan = prune(opened, query.filter, "spark", as_of=query.as_of, time_zone="UTC")
            if is_same_table:
                _check(table, query, plan)
            internal = [reason.text for reason in plan.reasons if _is_internal(reason.text)]
            if internal:
                raise Fault(f"undocumented error: {internal[0]}")
    except SargoError:
        return "refused"
    return "planned"


def _check(table: _OnDisk, query: Query, plan: Plan) -> None:
    why = f"As of {query.as_of}. Reasons: {'; '.join(reason.text for reason in plan.reasons)}"
    here = {one.file_id: set(one.files) for one in plan.slices}
    lost = {path for file_id, files in table.listed[query.as_of].items() for path in files - here.get(file_id, set())}
    if lost:
        raise Fault(f"lost files: {sorted(lost)} are not listed. {why}")
    skipped = query.matching & {one.file_id for one in plan.skipped}
    if skipped:
        raise Fault(f"wrong skip: {query.text} skips {sorted(skipped)}. {why}")
    if query.full is not None:
        claimed = {one.file_id for one in plan.fully_matched} & set(table.listed[query.as_of]) - query.full
        if claimed:
            raise Fault(f"wrong claim: {query.text} matches all of {sorted(claimed)}. {why}")


def _is_internal(reason: str) -> bool:
    """Whether a reason names a class of Python's errors: a failure that the code did not foresee."""
    return any(
        f": {name} " in f"{reason} " or f": {name}:" in reason
        for name in ("IndexError", "KeyError", "TypeError", "ValueError", "AttributeError", "struct.error", "error",
                     "OverflowError", "MemoryError", "RecursionError", "AssertionError", "UnicodeDecodeError",
                     "ZeroDivisionError", "OSError", "ArrowInvalid", "EOFError", "StopIteration", "BinaryError")
    )  # fmt: skip
