"""Every table of the corpus, of every release, and as of older instants: an answered slice has the values of its rows.

The values are compared slice by slice, for every column, and the slice's rows must all satisfy the condition.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.semantics import Semantics
from handler import open_table, prune
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.split import AggregateSplit, split_aggregates
from handler.sql.parsing import parse
from tests.handler.aggregates.table_aggregates import TableRows, conditions
from tests.handler.conftest import DATA
from tests.sampling import share

SPARK = Semantics.named("spark", "UTC")
ARCHIVES = sorted(
    path
    for folder in (DATA, DATA / "format", DATA / "keys", DATA / "proofs", DATA / "merging", DATA.parent / "keygen")
    for path in (*folder.glob("*.zip"), *folder.glob("*.tar.xz"))
    if path.name != "true_rows.tar.xz"
)
FUNCTIONS = ("count", "min", "max", "sum")


def unpack(archive: Path, folder: Path) -> list[Path]:
    """The tables of an archive."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
    else:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
    tables = {path.parent.parent for path in folder.rglob(".hoodie/hoodie.properties")}
    return sorted(path for path in tables if path.parent.name != ".hoodie")


def instants(opened):
    """The latest state, and two older ones."""
    writes = opened.table.timeline.writes
    return [None, *(one.requested for one in writes[:: max(1, len(writes) // 2)][:2])]


def states(opened):
    """Each instant that was not cleaned: the plan of all slices, and the rows."""
    for as_of in instants(opened):
        try:
            everything = prune(opened, "TRUE", "spark", as_of=as_of, time_zone="UTC")
        except SargoError:
            continue
        yield as_of, everything, TableRows(opened, as_of)


def check(split: AggregateSplit, rows: TableRows, faults: list) -> None:
    for one in split.answered:
        for aggregate, value in zip(split.aggregates, one.values, strict=True):
            true = rows.aggregate(one.item, aggregate)
            if true != value or (type(true) is not type(value) and not isinstance(true, bool)):
                faults.append((str(aggregate), one.item.base_file, true, value))


@pytest.mark.parametrize("archive", share(ARCHIVES, 57), ids=lambda path: path.name)
def test_an_answered_slice_has_the_values_of_its_rows(archive, tmp_path):
    faults, answered = [], Counter()
    for folder in unpack(archive, tmp_path):
        opened = open_table(folder, cache=None)
        for as_of, everything, rows in states(opened):
            for one in (Aggregate("count"), *(Aggregate(f, name) for f in FUNCTIONS for name in rows.names)):
                split = split_aggregates(everything, [one])
                check(split, rows, faults)
                answered[one.function] += len(split.answered)
            for text in conditions(rows, 40):
                plan = prune(opened, text, "spark", as_of=as_of, time_zone="UTC")
                split = split_aggregates(plan, [Aggregate("count"), *(Aggregate("count", name) for name in rows.names)])
                check(split, rows, faults)
                faults += [(text, one.item) for one in split.answered if not all_satisfy(rows, one.item, text)]
    assert faults == []
    assert answered["count"] > 0


def all_satisfy(rows: TableRows, item, text: str) -> bool:
    try:
        return len(rows.satisfying(item, parse(text, "spark"), SPARK)) == rows.count(item)
    except (UnsupportedError, ArithmeticError, ValueError, TypeError):
        return True  # no row form


#: How many slices of a table without a condition each function answers for the column, and how many are scanned.
ANSWERED = [
    ("1.1.1_main_cow", "count(*)", 14, 0),
    ("1.1.1_main_cow", "count(s)", 14, 0),
    ("1.1.1_main_cow", "max(t)", 14, 0),
    ("1.1.1_main_cow", "min(p)", 14, 0),
    ("1.1.1_main_cow", "max(s)", 0, 14),
    ("0.15.0_main_cow", "max(dec30)", 14, 0),
    ("1.0.2_main_cow", "min(dec)", 14, 0),
    ("1.1.1_main_mor", "count(*)", 10, 8),
    ("1.1.1_nan_cow", "max(d)", 0, 8),
    ("1.1.1_evol_cow", "max(extra)", 18, 0),
    ("format/1.2.0_partcols_cow", "min(p)", 4, 0),  # the files lack the column
    ("format/1.2.0_partcols_cow", "count(p)", 4, 0),
    ("format/1.2.0_readded_cow", "count(e)", 0, 5),  # a name of two columns
]


@pytest.mark.parametrize(("name", "text", "answered", "scanned"), ANSWERED)
def test_what_footers_answer(unpack_table, name, text, answered, scanned):
    opened, faults = open_table(unpack_table(name), cache=None), []
    split = split_aggregates(prune(opened, "TRUE", "spark"), [Aggregate.parse(text)])
    assert (len(split.answered), len(split.scanned)) == (answered, scanned), str(split)
    check(split, TableRows(opened, None), faults)
    assert faults == []


@pytest.fixture(scope="module")
def unpack_table(tmp_path_factory):
    return lambda name: unpack(next(DATA.glob(f"{name}.*")), tmp_path_factory.mktemp("table"))[0]
