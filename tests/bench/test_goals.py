"""Goals are judged by the figures of a run. The figures of these tests are made up."""

from __future__ import annotations

import pytest

from tests.bench.engines.numpy_scan import NumpyScan
from tests.bench.engines.sargo import Sargo, SargoScan
from tests.bench.goals import verdicts
from tests.bench.measurements import Measurement
from tests.bench.shapes import SHAPES, TINY


def measurement(layout, slow=(), factor=1.0, data="E"):
    """Sargo at a thirtieth of its peers' time, and ``factor`` times slower than that for some shapes."""
    seconds = {
        shape.name: {
            "Polars": 1.0,
            "DataFusion": 1.0,
            "DuckDB": 1.0,
            NumpyScan.name: 1.0,
            SargoScan.name: 0.5,
            Sargo.name: (factor if shape.name in slow else 1) / 30,
        }
        for shape in SHAPES
    }
    streaming = {speed: {shape.name: 1.0 for shape in SHAPES} for speed in ("copy", "read")}
    return Measurement(data=data, layout=layout, files=100, seconds=seconds, kept={}, streaming=streaming)


def tiny(microseconds):
    return Measurement(
        data="20", layout="random", files=20, seconds={TINY.name: {Sargo.name: microseconds / 1e6}}, kept={}
    )


def missed(measured, of_tiny):
    return [verdict.goal.split(":")[0] for verdict in verdicts(measured, of_tiny) if not verdict.is_met]


def test_all_goals_are_met_and_measured_when_every_figure_is_small():
    measured = [*(measurement(layout) for layout in ("random", "clustered", "wide")), measurement("random", data="C")]
    judged = verdicts(measured, tiny(39))
    assert all(verdict.is_met and verdict.worst is not None for verdict in judged)


@pytest.mark.parametrize(
    ("layout", "shape", "factor", "goals"),
    [
        ("random", "prefix", 7.6, ["E random, every shape"]),
        ("random", "prefix", 9.1, ["E random, every shape"] * 2),
        ("random", "prefix", 18.1, ["E random, every shape"] * 3),
        ("random", "IN of 1,000", 1.3, ["E random, IN of 1,000"]),
        ("clustered", "IN of 1,000", 3.1, ["E clustered, IN of 1,000"]),
        ("clustered", "2-leaf range", 2.5, ["E random and clustered, equality and range"]),
        (
            "clustered",
            "1 equality",
            4.6,
            ["E random and clustered, equality and range", "E clustered, equality and range"],
        ),
        ("clustered", "prefix", 100, []),
        ("wide", "1 equality", 2.5, ["E wide (1 % span all ids), equality and range"]),
    ],
)
def test_one_slow_shape_misses_the_goals_that_it_belongs_to(layout, shape, factor, goals):
    measured = [
        measurement(name, [shape] if name == layout else (), factor) for name in ("random", "clustered", "wide")
    ]
    assert missed(measured, tiny(10)) == goals


@pytest.mark.parametrize(("shape", "factor", "many"), [("prefix", 100, 0), ("10-leaf AND/OR", 12.1, 1)])
def test_the_small_table_has_goals_of_its_own(shape, factor, many):
    goals = missed([measurement("clustered", [shape], factor, data="C")], tiny(10))
    assert goals == ["C, equality, range and ten leaves"] * many


def test_the_tiny_case_is_judged_by_itself_and_what_was_not_run_has_no_figure():
    judged = verdicts([], tiny(41))
    assert [verdict.is_met for verdict in judged if verdict.worst is not None] == [False]
    assert judged[-1].worst == (TINY.name, pytest.approx(41))
