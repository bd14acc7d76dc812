"""JSON of any depth."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from handler.views.json_text import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_it_is_what_the_standard_encoder_writes(document):
    assert json_text(document) == json.dumps(document, indent=2, ensure_ascii=False)


def test_ten_thousand_levels_are_written_in_little_space():
    document = []
    for _ in range(10_000):
        document = {"children": [document]}
    assert len(json_text(document)) < 500_000
