"""The integers of a long list in a filter document: what is read, what is refused, and what becomes of it."""

import base64
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.expression import In, InKeys, Unknown
from handler.catalyst.document import DocumentError, read_document
from handler.catalyst.sorted_keys import MAX_KEYS, read_sorted_keys
from tests.handler.catalyst.documents import attribute, document, node

LONG = 1 << 63
INTEGER_LISTS = st.lists(st.integers(-LONG, LONG - 1), max_size=50)


def written(values, rest=b""):
    """As the extension writes them."""
    ordered = sorted(set(values))
    differences = [b - a for a, b in zip([0, *ordered], ordered, strict=False)]
    wrapped = [(one + LONG) % (2 * LONG) - LONG for one in differences]
    return base64.b64encode(zlib.compress(struct.pack(f"<{len(wrapped)}q", *wrapped) + rest, 1)).decode()


def among(column, type_name, values):
    exact = {"type": type_name, "differences": written(values)}
    nodes = node("InSet", column)
    return read_document(document((nodes, {0: exact})))


@given(INTEGER_LISTS)
def test_all_integers_of_64_bits_come_back_in_order(values):
    assert read_sorted_keys("long", written(values)).values.tolist() == sorted(set(values))


@pytest.mark.parametrize(
    ("type_name", "text"),
    [
        ("string", written([1])),
        ("double", written([1])),
        ("byte", written([1, 128])),
        ("date", written([-(1 << 31) - 1, 5])),
        ("long", "no base64!"),
        ("long", base64.b64encode(b"no zlib").decode()),
        ("long", written([1, 2])[:-8]),
        ("long", written([1], rest=b"123")),
        ("long", base64.b64encode(zlib.compress(struct.pack("<2q", 5, 0))).decode()),
        ("long", base64.b64encode(zlib.compress(struct.pack("<2q", 5, -1))).decode()),
        ("long", base64.b64encode(zlib.compress(struct.pack("<2q", 5, LONG - 1))).decode()),
        ("long", base64.b64encode(zlib.compress(bytes(8 * MAX_KEYS + 8))).decode()),
        ("long", base64.b64encode(zlib.compress(bytes(8)) + b"more").decode()),
    ],
    ids=[
        "text",
        "double",
        "a byte",
        "a date",
        "base64",
        "zlib",
        "cut",
        "odd",
        "equal",
        "falling",
        "beyond 64 bits",
        "too many",
        "more",
    ],
)
def test_what_is_damaged_is_refused(type_name, text):
    with pytest.raises(ValueError, match="values"):
        read_sorted_keys(type_name, text)
    exact = {"type": type_name, "differences": text}
    with pytest.raises(DocumentError, match="long list"):
        read_document(document((node("InSet", attribute("i", "integer")), {0: exact})))


@pytest.mark.parametrize("type_name", ["byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz"])
def test_few_keys_are_literals(type_name):
    condition = among(attribute("i", type_name), type_name, [3, -4, 90])
    assert isinstance(condition, In)
    assert [member.value for member in condition.members] == [-4, 3, 90]


@pytest.mark.parametrize("type_name", ["integer", "long", "date", "timestamp", "timestamp_ntz"])
def test_many_keys_are_one_array(type_name):
    values = range(-700, 2000, 2)
    condition = among(attribute("i", type_name), type_name, values)
    assert isinstance(condition, InKeys)
    assert condition.keys.array.to_pylist() == list(values)
    assert condition.operand.path == ("i",)


def test_a_column_cast_to_a_wider_integer_has_only_keys_that_it_can_hold():
    cast = node("Cast", attribute("i", "integer"), dataType="long", evalMode="LEGACY")
    values = np.arange(2**31 - 1500, 2**31 + 1500).tolist()
    condition = among(cast, "long", values)
    assert isinstance(condition, InKeys)
    assert condition.keys.array.to_pylist() == values[:1500]


def test_a_cast_to_a_narrower_integer_is_unknown_for_many_keys():
    cast = node("Cast", attribute("i", "long"), dataType="integer", evalMode="LEGACY")
    assert isinstance(among(cast, "integer", range(2000)), Unknown)


def test_no_key_of_a_column_s_range_is_left_but_some_are_given():
    cast = node("Cast", attribute("i", "integer"), dataType="long", evalMode="LEGACY")
    condition = among(cast, "long", range(2**40, 2**40 + 2000))
    assert isinstance(condition, In)
    assert len(condition.members) == 1
