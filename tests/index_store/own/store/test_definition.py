"""What an index is: read back as it was written, and refused when it is none."""

import json

import pytest

from index_store.own.definition import SECONDARY_INDEX, Definition, Entry
from index_store.storage.errors import FormatError


@pytest.mark.parametrize(
    "definition",
    [
        Definition("by_city", (Entry("city", "bloom_filter(fpp=0.01)"), Entry("lower(city)", "min_max"))),
        Definition("k", (Entry("city"), Entry("ts")), SECONDARY_INDEX, {"time zone": "UTC"}),
    ],
    ids=["sketches", "secondary"],
)
def test_a_definition_outlives_json(definition):
    assert Definition.from_dict(json.loads(json.dumps(definition.to_dict()))) == definition


@pytest.mark.parametrize(
    ("name", "entries", "kind", "why"),
    [
        ("", (Entry("a"),), "sketches", "no name"),
        ("../x", (Entry("a"),), "sketches", "no name"),
        (".hidden", (Entry("a"),), "sketches", "no name"),
        ("a/b", (Entry("a"),), "sketches", "no name"),
        ("x" * 101, (Entry("a"),), "sketches", "no name"),
        ("x", (), "sketches", "needs a column"),
        ("x", (Entry("a"),), "covering", "not known"),
        ("x", (Entry("a", "min_max"), Entry("a", "min_max")), "sketches", "min_max of a is named twice"),
    ],
)
def test_what_is_no_index_is_refused(name, entries, kind, why):
    with pytest.raises(ValueError, match=why):
        Definition(name, entries, kind)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"format": None},
        {"name": 3},
        {"kind": "other"},
        {"entries": []},
        {"entries": [{"on": "a"}]},
        {"entries": {"on": "a"}},
        {"options": []},
        {"options": {"a": 1}},
    ],
)
def test_what_cannot_be_understood_is_not_guessed(change):
    plain = Definition("by_city", (Entry("city", "min_max"),)).to_dict()
    with pytest.raises(FormatError, match="no definition of an index"):
        Definition.from_dict({**plain, **change})
