"""All engines that are installed keep the same files: the time of a wrong answer means nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.datasets import LAYOUTS, SIZES, TYPES, make_files
from tests.bench.engines import engines
from tests.bench.engines.base import NotOffered
from tests.bench.measurements import check_answers
from tests.bench.shapes import SHAPES, TINY

# Peers are other people's libraries: their warnings are not this project's.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_engine_keeps_the_same_files_of_data_set_c(layout):
    files = make_files("C", layout)
    ready = [engine(files) for engine in engines()]
    for shape in (*SHAPES, TINY):
        queries = {}
        for engine in ready:
            try:
                prepared, unprepared = engine.prepare(shape), engine.unprepared(shape)
            except NotOffered:
                continue
            queries[engine.name] = prepared
            assert np.array_equal(np.sort(prepared()), np.sort(unprepared())), engine.name
        assert {"Sargo", "Sargo, not indexed", "flat numpy scan"} <= set(queries)
        kept = check_answers(ready, queries, files)
        assert 0 < len(kept) < len(files), shape.name


def test_an_engine_that_keeps_other_files_is_found():
    files = make_files("C", "random")
    ready = [engine(files) for engine in engines()]
    queries = {engine.name: engine.prepare(SHAPES[0]) for engine in ready}
    right = queries["Sargo"]
    queries["Sargo"] = lambda: np.append(right(), 7)
    with pytest.raises(AssertionError, match="Sargo on C random"):
        check_answers(ready, queries, files)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_made_up_statistics_are_statistics(layout):
    files = make_files("C", layout)
    assert len(files) == SIZES["C"][0]
    assert set(files.columns) == set(TYPES)
    for name, column in files.columns.items():
        lo, hi = column.objects() if name in ("user", "region") else (column.lo, column.hi)
        known = ~column.all_null
        assert (lo[known] <= hi[known]).all(), name
        assert (column.null_count[known] < files.row_count[known]).all(), name
        assert (column.null_count[~known] == files.row_count[~known]).all(), name
    in_order = (np.diff(files.columns["id"].lo) >= 0).all()
    assert in_order == (layout == "clustered")
