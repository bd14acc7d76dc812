"""No reader shows a row that is found hidden: cases one by one, and readers that merge in different ways at random."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.own.builders.logged_versions import LoggedRecords, LoggedVersions, orderings_of, versions_of
from tests.index_store.own.merge_readers import COMMIT_READERS, EVENT_READERS, FINAL, Record
from tests.sampling import ALL_CASES


def _texts(values):
    return pa.array([one.encode() for one in values], pa.large_binary())


def _versions(
    blocks: Sequence[tuple[str, Sequence[Record]]], *, by_commit: bool = False, has_ordering: bool = True
) -> LoggedVersions:
    def stored(records):
        plain = [None if one.ordering == FINAL else one.ordering for one in records]
        return orderings_of(pa.array(plain, pa.int64()))

    return versions_of(
        [
            LoggedRecords(
                _texts(one.key for one in records),
                stored(records),
                instant,
                np.array([one.ordering == FINAL for one in records], np.bool_),
            )
            for instant, records in blocks
        ],
        by_commit=by_commit,
        has_ordering=has_ordering,
    )


def _hides_base(versions: LoggedVersions, key: str, ordering: int | None) -> bool:
    indices = versions.indices(_texts([key]))
    return bool(versions.hides(indices, orderings_of(pa.array([ordering], pa.int64())))[0])


def _blocks(*records: tuple[int | str | None, ...]) -> list[tuple[str, list[Record]]]:
    """One block with records of the key "a" for each tuple, of ascending instants."""
    return [
        (str(number), [Record("a", one, one == FINAL) for one in some]) for number, some in enumerate(records, start=1)
    ]


@pytest.mark.parametrize(
    ("blocks", "base", "base_is_hidden", "hidden"),
    [
        pytest.param(_blocks((7,)), 5, True, [False], id="greater"),
        pytest.param(_blocks((5,)), 5, True, [False], id="equal"),
        pytest.param(_blocks((3,)), 5, False, [False], id="smaller: readers differ"),
        pytest.param(_blocks((7,), (8,)), 5, True, [True, False], id="two, ascending"),
        pytest.param(_blocks((8,), (7,)), 5, True, [False, False], id="two, descending"),
        pytest.param(_blocks((7,), (7,)), 5, True, [True, False], id="two, equal"),
        pytest.param(_blocks((7, 8)), 5, True, [False, False], id="two of one block"),
        pytest.param(_blocks((None,)), 5, False, [False], id="NULL in the log file"),
        pytest.param(_blocks((7,)), None, False, [False], id="NULL in the base file"),
        pytest.param(_blocks((0,)), -5, False, [False], id="0 may stand for no value"),
        pytest.param(_blocks((-3,)), -5, True, [False], id="negative"),
        pytest.param(_blocks((FINAL,)), 5, True, [False], id="a deletion without an ordering value"),
        pytest.param(_blocks((FINAL,)), None, True, [False], id="such a deletion of a row without one"),
        pytest.param(_blocks((7,), (FINAL,)), 5, True, [True, False], id="an update, then such a deletion"),
        pytest.param(
            _blocks((12,), (FINAL,), (3,)), 10, False, [False] * 3, id="what comes after a deletion may be late"
        ),
        pytest.param(_blocks((7,), (None,), (8,)), 5, False, [False] * 3, id="NULL decides nothing about its key"),
        pytest.param(_blocks((3, FINAL)), 10, False, [False] * 2, id="a deletion and a record of one instant"),
    ],
)
def test_what_hides_a_row_under_event_time(blocks, base, base_is_hidden, hidden):
    versions = _versions(blocks)
    assert _hides_base(versions, "a", base) is base_is_hidden
    assert np.concatenate(versions.hidden).tolist() == hidden
    assert not _hides_base(versions, "b", base)


@pytest.mark.parametrize(
    ("blocks", "has_ordering", "hidden"),
    [
        pytest.param(_blocks((3,)), True, [False], id="one"),
        pytest.param(_blocks((8,), (7,)), False, [True, False], id="the later one wins"),
        pytest.param(_blocks((8,), (7,)), True, [False, False], id="readers by payload compare"),
        pytest.param(_blocks((7,), (8,)), True, [True, False], id="later and greater"),
        pytest.param(_blocks((7,), (FINAL,)), True, [True, False], id="a deletion at the end"),
    ],
)
def test_every_record_hides_the_base_row_under_commit_time(blocks, has_ordering, hidden):
    versions = _versions(blocks, by_commit=True, has_ordering=has_ordering)
    assert _hides_base(versions, "a", 5)
    assert _hides_base(versions, "a", None)
    assert np.concatenate(versions.hidden).tolist() == hidden


@pytest.mark.parametrize(
    ("blocks", "base_is_hidden", "hidden"),
    [
        ([("1", 7), ("2", 3), ("2", FINAL)], False, [False, False, False]),  # those of instant 2 have no certain order
        ([("1", 7), ("1", 8), ("2", FINAL)], True, [True, True, False]),
        ([("1", FINAL), ("1", 7)], False, [False, False]),
        ([("1", 7), ("1", FINAL)], False, [False, False]),
    ],
)
def test_a_deletion_without_an_ordering_value_hides_what_earlier_instants_wrote(blocks, base_is_hidden, hidden):
    versions = _versions([(instant, [Record("a", one, one == FINAL)]) for instant, one in blocks])
    assert _hides_base(versions, "a", 10) is base_is_hidden
    assert np.concatenate(versions.hidden).tolist() == hidden


def test_blocks_out_of_order_hide_no_record_of_a_log_file():
    blocks = [("2", [Record("a", 7)]), ("1", [Record("a", 8)])]
    versions = _versions(blocks)
    assert _hides_base(versions, "a", 8)
    assert [one.tolist() for one in versions.hidden] == [[False], [False]]
    versions = _versions([("2", [Record("a", FINAL, True)]), ("1", [Record("a", 7)])])
    assert not _hides_base(versions, "a", 8)
    assert [one.tolist() for one in versions.hidden] == [[False], [False]]


@pytest.mark.parametrize(
    ("newer", "older", "hides"),
    [
        ("b", "a", True),
        ("a", "a", True),
        ("a", "b", False),
        ("10", "9", False),
        ("\u00e9", "a", False),  # readers compare UTF-8, UTF-16 or code points
        ("b", "\u00e9", False),
        ("b\0", "a", False),
        ("b" * 65, "a", False),
        ("0", "", False),
    ],
)
def test_text_is_compared_where_every_reader_compares_it_alike(newer, older, hides):
    blocks = [LoggedRecords(_texts(["k"]), orderings_of(_texts([newer])), "1")]
    versions = versions_of(blocks, by_commit=False, has_ordering=True)
    assert bool(versions.hides(versions.indices(_texts(["k"])), orderings_of(_texts([older])))[0]) is hides


def test_ordering_values_of_two_forms_are_not_compared():
    blocks = [
        LoggedRecords(_texts(["k"]), orderings_of(_texts(["b"])), "1"),
        LoggedRecords(_texts(["k"]), orderings_of(pa.array([7])), "2"),
    ]
    versions = versions_of(blocks, by_commit=False, has_ordering=True)
    assert not versions.hides(versions.indices(_texts(["k"])), orderings_of(_texts(["a"]))).any()


ORDERINGS = st.one_of(st.integers(-3, 6), st.none())


@st.composite
def _slices(draw):
    """The ordering value of the base row of each key, and blocks of ascending instants."""
    keys = ["a", "b", "c"]
    base = {key: draw(ORDERINGS) for key in keys if draw(st.booleans())}
    records = st.one_of(
        st.builds(Record, st.sampled_from(keys), ORDERINGS),
        st.builds(Record, st.sampled_from(keys), st.one_of(ORDERINGS, st.just(FINAL)), st.just(True)),
    )
    blocks = draw(st.lists(st.lists(records, min_size=1, max_size=3, unique_by=lambda one: one.key), max_size=5))
    instants = sorted(draw(st.lists(st.integers(1, 4), min_size=len(blocks), max_size=len(blocks))))
    return base, [(str(instant), block) for instant, block in zip(instants, blocks, strict=True)]


@given(_slices(), st.booleans())
def test_no_reader_shows_a_row_that_is_hidden(drawn, by_commit):
    base, blocks = drawn
    versions = _versions(blocks, by_commit=by_commit)
    hidden = [False, *(np.concatenate(versions.hidden).tolist() if blocks else [])]
    numbered = list(enumerate((one for _, block in blocks for one in block), start=1))
    for key in ("a", "b", "c"):
        first = [(0, Record(key, base[key]))] if key in base else []
        placed = first + [(number, one) for number, one in numbered if one.key == key]
        for reader in COMMIT_READERS if by_commit else EVENT_READERS:
            for null_is_zero in (True, False):
                shown = reader(first, placed[len(first) :], null_is_zero=null_is_zero)
                if shown is None or shown[1].deletes:
                    continue
                number = shown[0]
                is_hidden = hidden[number] if number else _hides_base(versions, key, base[key])
                assert not is_hidden, (reader.__name__, key)


@pytest.mark.parametrize("count", [1, 2, 3, 4] if ALL_CASES else [1, 2, 3])
@pytest.mark.parametrize("others", [0, 1])
def test_every_short_history_of_plain_values_hides_exactly_what_is_not_greater_than_something_later(count, others):
    """``others``: records of other keys in each block, before and behind that of the key."""
    for instants in itertools.combinations_with_replacement("123", count):
        for values in itertools.product((1, 2, 3), repeat=count):
            blocks = [
                (
                    instant,
                    [Record("0", 9)] * others + [Record("a", value)] + [Record("z", 9)] * others,
                )
                for instant, value in zip(instants, values, strict=True)
            ]
            versions = _versions(blocks)
            expected = [
                any(later > instants[i] and value >= values[i] for later, value in zip(instants, values, strict=True))
                for i in range(count)
            ]
            hidden = [mask[others] for mask in versions.hidden]
            assert hidden == expected, (instants, values)
            assert [_hides_base(versions, "a", base) for base in (1, 2, 3, 4)] == [
                max(values) >= base for base in (1, 2, 3, 4)
            ]


@pytest.mark.parametrize("count", [1, 2, 3] if ALL_CASES else [1, 2])
def test_no_reader_shows_a_hidden_row_of_any_short_history(count):
    """As the test of drawn slices, of all of them: values, NULL, deletions with an ordering value and without one."""
    versions_of_a_row = [
        *(Record("a", ordering) for ordering in (1, 2, None)),
        *(Record("a", ordering, True) for ordering in (1, 2, None, FINAL)),
    ]
    for instants in itertools.combinations_with_replacement("123", count):
        for records in itertools.product(versions_of_a_row, repeat=count):
            blocks = [(instant, [record]) for instant, record in zip(instants, records, strict=True)]
            placed = list(enumerate(records))
            for by_commit, readers in ((True, COMMIT_READERS), (False, EVENT_READERS)):
                versions = _versions(blocks, by_commit=by_commit)
                hidden = np.concatenate(versions.hidden).tolist()
                for reader, null_is_zero in itertools.product(readers, (True, False)):
                    shown = reader([], placed, null_is_zero=null_is_zero)
                    assert shown is None or shown[1].deletes or not hidden[shown[0]], (instants, records, by_commit)
