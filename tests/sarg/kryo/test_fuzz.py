"""Mutated real filters: an answer or a DecodeError, never another exception, a hang or growing memory."""

import base64
import time

from hypothesis import given, settings
from hypothesis import strategies as st

import sarg
from evaluator.language.expression import HudiExpression, to_text, walk
from tests.sampling import examples
from tests.sarg.corpus import VERSIONS, records

FILTERS = [
    base64.b64decode(text)
    for version in VERSIONS
    for record in records(version)[::4]
    for text in (record["kryo_base64"], record.get("sarg_kryo_base64"))
    if text and len(text) < 6000
]
QUIET = settings(max_examples=examples(78, at_night=4000))

INTERESTING = st.sampled_from([0, 1, 2, 3, 5, 0x3F, 0x40, 0x7F, 0x80, 0x81, 0xBF, 0xC0, 0xFF])
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["set", "insert", "delete", "copy"]),
        st.integers(0, 4000),
        st.one_of(INTERESTING, st.integers(0, 255)),
        st.integers(1, 40),
    ),
    min_size=1,
    max_size=6,
)


def mutated(data, edits):
    out = bytearray(data)
    for kind, place, value, length in edits:
        at = place % max(1, len(out))
        if kind == "set":
            out[at : at + 1] = bytes([value])
        elif kind == "insert":
            out[at:at] = bytes([value]) * (length % 6)
        elif kind == "delete":
            del out[at : at + length]
        else:
            start = value * 7 % max(1, len(out))
            out[at:at] = out[start : start + length]
    return bytes(out)


def check(data):
    started = time.process_time()
    try:
        decoded = sarg.decode_detailed(data)
    except sarg.DecodeError as error:
        problem = error
    else:
        problem = None
        assert isinstance(decoded.expression, HudiExpression)
        assert sum(1 for _ in walk(decoded.expression)) < 1_000_000
        assert to_text(decoded.expression)
        if decoded.exprnode is not None:
            assert decoded.exprnode.to_dict()
    assert problem is None or (0 <= problem.offset <= len(data) and problem.why)
    assert time.process_time() - started < 20


@QUIET
@given(st.sampled_from(FILTERS), EDITS)
def test_a_mutated_filter_decodes_or_is_refused(data, edits):
    check(mutated(data, edits))


@QUIET
@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data):
    check(b"\x01" + data)


@QUIET
@given(st.text(max_size=200))
def test_random_text_is_refused(text):
    check(text)


@settings(QUIET, max_examples=examples(29, at_night=1500))
@given(st.sampled_from(FILTERS), st.sampled_from(FILTERS), st.integers(0, 5000), st.integers(0, 5000))
def test_two_filters_glued_together_decode_or_are_refused(first, second, cut, paste):
    check(first[: cut % len(first)] + second[paste % len(second) :])


def test_every_single_byte_set_to_an_extreme_decodes_or_is_refused():
    data = next(f for f in FILTERS if len(f) > 500)
    for at in range(len(data)):
        for value in (0x00, 0x01, 0x7F, 0xFF):
            check(data[:at] + bytes([value]) + data[at + 1 :])
