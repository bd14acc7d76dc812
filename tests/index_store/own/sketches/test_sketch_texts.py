"""How sketches are asked for, how large they become, and when they give up."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, Kind, Type
from index_store.own.builders.sketching import SketchPlan
from index_store.own.sketches import SKETCHES, parse_sketch
from index_store.own.sketches.base import Batch, Stored
from index_store.own.sketches.hashing import hashes
from index_store.table.file_types import FileType
from index_store.table.plain_values import plain_array
from tests.sampling import share


def sketched(text, values, of, batches=1):
    """What is stored of the values, and what it decodes to."""
    sketch, file_type = parse_sketch(text), FileType.of(of)
    collector = sketch.collect()
    for part in np.array_split(np.arange(len(values)), batches):
        collector.add(Batch(plain_array(values.take(pa.array(part)), file_type), file_type))
    stored = collector.stored()
    return stored, sketch.decode(
        Stored({field.name: pa.array([stored[field.name]], field.type) for field in sketch.fields}, file_type, 1)
    )


@pytest.mark.parametrize(
    "text",
    [
        "null_count",
        "nan_count",
        "min_max",
        "partition",
        "value_list(limit=7)",
        "prefix_set(limit=9, length=3)",
        "bloom_filter(fpp=0.001)",
        "bloom_filter(size=8192B)",
        "sum",
    ],
)
def test_the_text_of_a_sketch_makes_the_same_sketch_again(text):
    assert parse_sketch(text).text == text
    assert parse_sketch(f" {text.upper()} ".replace("B)", "b)").replace("b)", "B)")).text == text


def test_defaults_are_written_out():
    assert [parse_sketch(name).text for name in SKETCHES] == [
        "null_count",
        "nan_count",
        "min_max",
        "value_list(limit=50)",
        "prefix_set(limit=100, length=16)",
        "partition",
        "bloom_filter(fpp=0.01)",
        "sum",
    ]
    assert parse_sketch("bloom_filter(size=8KB)").text == "bloom_filter(size=8192B)"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bloom", "is not known: use one of null_count"),
        ("min_max(limit=3)", "no option limit"),
        ("sum(c)", "name=value"),
        ("value_list(limit=0)", "from 1 to 10000"),
        ("value_list(limit=many)", "invalid literal"),
        ("bloom_filter(fpp=0.9)", "0.000001 to 0.5"),
        ("bloom_filter(size=1GB)", "8B to 4MB"),
        ("bloom_filter(fpp=0.1, size=8KB)", "one of the options"),
        ("bloom_filter(fpp)", "name=value"),
        ("prefix_set(length=1000)", "from 1 to 100"),
        ("", "is not known"),
    ],
)
def test_a_text_that_is_no_sketch_is_refused_with_what_is_wrong(text, why):
    with pytest.raises(UnsupportedError, match=why):
        parse_sketch(text)


def test_a_column_has_one_sketch_of_a_name():
    with pytest.raises(UnsupportedError, match="bloom_filter of c is asked for twice"):
        SketchPlan.of([("c", "bloom_filter(fpp=0.1)"), ("d", "bloom_filter"), ("c", "bloom_filter(fpp=0.2)")])


@pytest.mark.parametrize(
    ("sketch", "of", "can"),
    [
        ("nan_count", DOUBLE, True),
        ("nan_count", INT, False),
        ("prefix_set", STRING, True),
        ("prefix_set", INT, False),
        ("bloom_filter", BOOLEAN, False),
        ("min_max", Type(Kind.OTHER, name="map"), False),
        ("null_count", Type(Kind.OTHER, name="map"), True),
        ("sum", INT, True),
        ("sum", Type(Kind.DECIMAL, 38, 4), True),
        ("sum", DOUBLE, False),
        ("sum", BOOLEAN, False),
    ],
)
def test_which_types_can_have_a_sketch(sketch, of, can):
    assert (parse_sketch(sketch).why_not(of) == "") is can


@pytest.mark.parametrize(("fpp", "distinct"), share(itertools.product([0.1, 0.01, 0.001], [10, 1000, 100_000]), 3))
def test_a_filter_finds_what_is_in_it_and_little_else(fpp, distinct):
    values = pa.array(np.arange(distinct) * 7)
    stored, told = sketched(f"bloom_filter(fpp={fpp})", pa.concat_arrays([values, values]), BIGINT, 3)
    assert stored["distinct"] == distinct  # counted, never asked of the user
    assert len(stored["bits"]) <= distinct * 2.5 + 16
    assert all(told.might_contain([value])[0] for value in values[:200].to_pylist())
    assert told.might_contain([1, 14])[0]
    others = sum(bool(told.might_contain([value])[0]) for value in range(1, 30_000, 7))
    assert others / len(range(1, 30_000, 7)) <= 1.5 * fpp + 0.003


def test_a_filter_of_a_given_size_gives_up_when_it_would_find_everything():
    few, many = pa.array(range(20)), pa.array(range(2000))
    assert len(sketched("bloom_filter(size=64B)", few, BIGINT)[0]["bits"]) == 64
    stored, told = sketched("bloom_filter(size=64B)", many, BIGINT)
    assert stored == {"bits": None, "hashes": None, "distinct": 2000}
    assert told.might_contain([-1])[0]


def test_hashes_are_the_same_everywhere():
    """Stored filters depend on them: these numbers never change."""
    values = pa.array([b"", b"a", b"12345678", b"123456789", "é".encode()], pa.large_binary())
    assert hashes(values).tolist() == hashes(pa.concat_arrays([values, values])[5:]).tolist()
    assert len(set(hashes(values).tolist())) == 5
    assert hashes(values)[:2].tolist() == [EMPTY, LETTER_A]


EMPTY, LETTER_A = 16294208416658607535, 6774081908283191102


def test_a_list_is_given_up_at_its_limit_or_when_it_is_long():
    assert sketched("value_list(limit=3)", pa.array(["a", "b", "c", "a"]), STRING, 2)[0]["values"] == [b"a", b"b", b"c"]
    assert sketched("value_list(limit=3)", pa.array(["a", "b", "c", "d"]), STRING, 2)[0]["values"] is None
    assert sketched("value_list(limit=3)", pa.array(["x" * 20_000]), STRING)[0]["values"] is None


def test_prefixes_are_as_long_as_the_limit_allows():
    names = pa.array([f"{town}-{number:03d}" for town in ("oslo", "rome") for number in range(100)])
    assert sketched("prefix_set(limit=4)", names, STRING)[0]["prefixes"] == [b"oslo-0", b"rome-0"]
    assert sketched("prefix_set(limit=25)", names, STRING, 5)[0]["prefixes"][:2] == [b"oslo-00", b"oslo-01"]
    whole = sketched("prefix_set(limit=4)", pa.array(["a", "bb", None]), STRING)[0]
    assert whole == {"prefixes": [], "whole": [b"a", b"bb"]}
