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
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluator.language.errors import SargoError
from handler import Plan, open_table, prune
from tests.conformance.stored_truth import DATA as CONFORMANCE
from tests.conformance.stored_truth import truth_of
from tests.fuzz.fuzzer import Fault
from tests.fuzz.smaller import without_pieces
from tests.fuzz.table_damage import Edit, drawn_edit, is_decisive, put_back, put_down
from tests.index_store.format_tables import FORMAT_TABLES, reads_of, unpack_format_table

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
_FILTERS = 3


@dataclass(frozen=True)
class TableCase:
    """Damage to a table."""

    table: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class _Filter:
    """A condition, the file groups with a matching row, and those of them in which every row matches."""

    text: str
    matching: frozenset[str]
    full: frozenset[str]


@dataclass
class _Subject:
    """A table on disk, its bytes, the files of the slices that Spark found rows in, and what Spark read of it."""

    root: Path
    files: dict[str, bytes]
    metadata: list[str]
    slices: dict[str, set[str]]
    filters: list[_Filter]


class TableFuzzer:
    """A case is a table and one to three damaged files of it."""

    name = "table"
    cpu_seconds = 20.0
    memory = 256 << 20

    @contextlib.contextmanager
    def prepared(self, folder: Path) -> Iterator[None]:
        self._folder = folder
        self._subjects: dict[str, _Subject] = {}
        yield

    def _subject(self, name: str) -> _Subject:
        if name not in self._subjects:
            root = self._folder / name
            rows, filters = _format_table(name, root) if name in FORMAT_TABLES else _conformance_table(name, root)
            files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
            metadata = sorted(path for path in files if path.startswith(".hoodie/"))
            slices = {one.file_id: set(one.files) for one in open_table(root, cache=None).at().slices}
            subject = _Subject(
                root,
                files,
                metadata,
                {file_id: slices[file_id] for file_id in rows},
                [_filter(text, matching, rows) for text, matching in filters.items()],
            )
            self._subjects[name] = subject
            assert _verdict(subject, subject.filters[::7]) == "planned"
        return self._subjects[name]

    def draw(self, rng: random.Random) -> TableCase:
        name = rng.choice(TABLES)
        subject = self._subject(name)
        everything = sorted(set(subject.files) - {"_oracle.json"})
        edits = {}
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            edit = drawn_edit(rng, subject.files, everything if rng.random() < 0.05 else subject.metadata)
            edits[edit.path] = edit
        return TableCase(name, tuple(edits.values()))

    def check(self, case: TableCase) -> str:
        subject = self._subject(case.table)
        number = zlib.crc32(self.dump(case))
        chosen = random.Random(number).sample(subject.filters, _FILTERS)
        is_same_table = not any(is_decisive(edit) for edit in case.edits)
        try:
            for edit in case.edits:
                put_down(subject.root, edit)
            return _verdict(subject, chosen, is_same_table=is_same_table)
        finally:
            for edit in case.edits:
                put_back(subject.root, edit, subject.files)

    def smaller(self, case: TableCase) -> Iterator[TableCase]:
        for edits in without_pieces(case.edits):
            yield replace(case, edits=tuple(edits))
        subject = self._subject(case.table)
        for place, edit in enumerate(case.edits):
            whole = subject.files.get(edit.path, b"")
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
        return zlib.compress(json.dumps([case.table, edits]).encode())

    def load(self, data: bytes) -> TableCase:
        name, edits = json.loads(zlib.decompress(data))
        return TableCase(name, tuple(Edit(path, what, base64.b64decode(text)) for path, what, text in edits))


def _format_table(name: str, root: Path) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Unpack a table of ``tests/data/hudi/format``: its file groups with their rows, and those of each filter."""
    unpack_format_table(name, root)
    latest = reads_of(root)[0]
    groups = [file_id for _, file_id, _ in latest["groups"]]
    filters = {
        text: {groups[int(place)]: count for place, count in places.items()}
        for text, places in latest["filters"].items()
    }
    return {file_id: count for _, file_id, count in latest["groups"]}, filters


def _conformance_table(name: str, root: Path) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """The same of a table of ``tests/data/conformance``."""
    with tarfile.open(CONFORMANCE / f"{name}.tar.xz") as archive:
        archive.extractall(root, filter="data")
    truth = truth_of(name)
    groups = Counter(truth.groups[place] for _, place in truth.rows)
    found = {text: truth.numbers(text, "legacy") for text in truth.predicates}
    filters = {
        text: dict(Counter(truth.groups[truth.rows[number][1]] for number in numbers))
        for text, numbers in found.items()
        if numbers is not None
    }
    return dict(groups), filters


def _filter(text: str, matching: dict[str, int], rows: dict[str, int]) -> _Filter:
    return _Filter(
        text, frozenset(matching), frozenset(one for one, count in rows.items() if matching.get(one) == count)
    )


def _verdict(subject: _Subject, filters: list[_Filter], *, is_same_table: bool = True) -> str:
    """How it ends: "refused" or "planned". Raises Fault for an answer that loses rows."""
    try:
        table = open_table(subject.root, cache=None)
        for one in filters:
            plan = prune(table, one.text, "spark", time_zone="UTC")
            if is_same_table:
                _check(subject, one, plan)
            internal = [reason.text for reason in plan.reasons if _is_internal(reason.text)]
            if internal:
                raise Fault(f"undocumented error: {internal[0]}")
    except SargoError:
        return "refused"
    return "planned"


def _check(subject: _Subject, filter_: _Filter, plan: Plan) -> None:
    why = f"Reasons: {'; '.join(reason.text for reason in plan.reasons)}"
    listed = {one.file_id: set(one.files) for one in plan.slices}
    lost = {path for file_id, files in subject.slices.items() for path in files - listed.get(file_id, set())}
    if lost:
        raise Fault(f"lost files: {sorted(lost)} are not listed. {why}")
    skipped = filter_.matching - {one.file_id for one in plan.kept}
    if skipped:
        raise Fault(f"wrong skip: {filter_.text} skips {sorted(skipped)}. {why}")
    claimed = {one.file_id for one in plan.fully_matched} & set(subject.slices) - filter_.full
    if claimed:
        raise Fault(f"wrong claim: {filter_.text} matches all of {sorted(claimed)}. {why}")


def _is_internal(reason: str) -> bool:
    """Whether a reason names a class of Python's errors: a failure that the code did not foresee."""
    return any(
        f": {name} " in f"{reason} " or f": {name}:" in reason
        for name in ("IndexError", "KeyError", "TypeError", "ValueError", "AttributeError", "struct.error", "error",
                     "OverflowError", "MemoryError", "RecursionError", "AssertionError", "UnicodeDecodeError",
                     "ZeroDivisionError", "OSError", "ArrowInvalid", "EOFError", "StopIteration", "BinaryError")
    )  # fmt: skip
