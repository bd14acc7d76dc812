"""Sets of slices of a plan as bits, combined plans, and the one-line repr."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from evaluator.evaluation.bit_sets import bits_of_mask, mask_of_bits, rows_of_bits
from evaluator.language.outcome import TRUE
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from index_store import FileSlices
from index_store.opened_table import Opening
from tests.handler.table_rows import rows_of
from tests.sampling import share

SPARK = Semantics.named("spark", "UTC")
FILTERS = ["i > 100 AND p = 'p1'", "i < 300 OR u = 7", "s LIKE 'b%'", "an < 20", "upper(s) > 'B'", "i IS NULL", "1 = 1"]
PAIRS = [(a, b) for a in FILTERS for b in FILTERS if a != b]


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 64, 1000])
def test_bits_and_arrays_are_the_same_set(n):
    mask = np.random.default_rng(n).random(n) < 0.4
    bits = bits_of_mask(mask)
    assert len(bits) == n
    assert bits.tolist() == mask.astype(int).tolist()
    assert (mask_of_bits(bits) == mask).all()
    assert rows_of_bits(bits).tolist() == np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("text", FILTERS)
def test_bits_are_in_the_order_of_the_slices(table, text):
    plan = prune(table, text, time_zone="UTC")
    assert [plan.slices[i] for i in plan.kept_bits.search(1)] == list(plan.kept)
    assert [plan.slices[i] for i in plan.matched_bits.search(1)] == list(plan.fully_matched)
    assert len(plan.kept_bits) == len(plan.matched_bits) == len(plan.slices)
    assert (plan.matched_bits & ~plan.kept_bits).count() == 0
    with pytest.raises(TypeError):
        plan.kept_bits[0] = 1  # shared by all who ask


@pytest.mark.parametrize("pair", share(PAIRS, 9, seed=20), ids=str)
@pytest.mark.parametrize("pickled", [False, True])
def test_combined_plans_keep_every_slice_with_a_row_and_no_more_than_their_parts(main_cow, table, pair, pickled):
    one, other = (prune(table, text, time_zone="UTC") for text in pair)
    if pickled:
        one, other = pickle.loads(pickle.dumps(one)), pickle.loads(pickle.dumps(other))
    schema, rows = table.table.schema, rows_of(main_cow, one.slices)
    for plan in (one & other, one | other, ~one):
        matches = [
            [value_of(plan.expression, row, schema, SPARK) is True for row in rows[item.file_id]]
            for item in plan.slices
        ]
        assert all(plan.kept_bits[i] for i, found in enumerate(matches) if any(found))
        assert all(all(found) for i, found in enumerate(matches) if plan.matched_bits[i])
        assert ((plan.outcomes & TRUE) != 0).tolist() == [bool(bit) for bit in plan.kept_bits]
    assert ((one & other).kept_bits & ~(one.kept_bits & other.kept_bits)).count() == 0
    assert ((one | other).kept_bits & ~(one.kept_bits | other.kept_bits)).count() == 0
    assert (~~one).kept_bits == one.kept_bits


def test_a_combined_plan_is_that_of_the_combined_filter(table):
    one, other = (prune(table, text, time_zone="UTC") for text in FILTERS[:2])
    both = prune(table, f"({FILTERS[0]}) AND ({FILTERS[1]})", time_zone="UTC")
    assert (one & other).kept == both.kept
    assert (one & other).residuals == both.residuals
    assert (one & other).leaves


def test_what_cannot_be_combined_is_an_error(table, unpack):
    plan = prune(table, "i > 5", time_zone="UTC")
    with pytest.raises(ValueError, match="two engines"):
        plan & prune(table, "i > 5", "hive", time_zone="UTC")
    with pytest.raises(ValueError, match="two time zones"):
        plan | prune(table, "i > 5", time_zone="Europe/Paris")
    with pytest.raises(ValueError, match="two instants"):
        plan & replace(plan, instant="20200101000000000")
    with pytest.raises(ValueError, match="different files"):
        plan & replace(plan, slices=FileSlices(plan.instant, "", tuple(plan.slices.items[::-1])))
    with pytest.raises(ValueError, match="two tables"):
        plan & prune(unpack("1.1.1_main_mor"), "i > 5", time_zone="UTC")
    with pytest.raises(TypeError):
        plan & {1}
    clocks = [prune(table, "dt < current_date()", time_zone="UTC", as_of_clock=f"{y}-01-01") for y in (2001, 2021)]
    with pytest.raises(ValueError, match="two moments"):
        clocks[0] & clocks[1]


def test_a_plan_shows_itself_in_one_line(table):
    plan = prune(table, "i > 5 AND s = 'a\nb' AND p IN (" + ",".join(f"'p{i}'" for i in range(99)) + ")")
    assert repr(plan).count("\n") == 0
    assert len(repr(plan)) < 300
    assert f"{len(plan.kept)} of {len(plan.slices)} file slices kept" in repr(plan)


@pytest.mark.parametrize("text", FILTERS)
def test_who_skipped_a_slice_is_what_the_reports_count(table, text):
    explanation = prune(table, text, time_zone="UTC").explanation
    counts = {key: bits.count() for key, bits in explanation.skipped_bits.items()}
    assert counts == {
        (number, kind): count for number, leaf in enumerate(explanation.leaves) for kind, count in leaf.by_kind.items()
    }


# -- pickles


@pytest.mark.parametrize("text", FILTERS)
def test_a_plan_that_was_pickled_says_the_same(table, text):
    plan = prune(table, text, time_zone="UTC")
    data = pickle.dumps(plan)
    again = pickle.loads(data)
    assert len(data) < 100_000
    ours, theirs = plan.to_dict(), again.to_dict()
    assert {**theirs, "row_count": None} == {**ours, "row_count": None}
    assert again.kept_bits == plan.kept_bits
    assert again.residuals == plan.residuals
    assert again.paths().equals(plan.paths())
    assert repr(again) == repr(plan)
    assert again.opened.path == plan.opened.path


def test_plans_and_tables_open_in_a_fresh_process(table, tmp_path):
    plan = prune(table, FILTERS[0], time_zone="UTC")
    file = tmp_path / "plan.pickle"
    file.write_bytes(pickle.dumps((plan, table)))
    code = (
        "import pickle, sys\n"
        "plan, table = pickle.load(open(sys.argv[1], 'rb'))\n"
        "from handler import prune\n"
        "again = prune(table, plan.expression, time_zone='UTC')\n"
        "print(len(plan.kept), len(plan.slices), again.kept == plan.kept, plan.paths()[0].as_py())"
    )
    found = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True).stdout
    assert found.split() == [str(len(plan.kept)), str(len(plan.slices)), "True", plan.paths()[0].as_py()]


def test_secrets_among_the_options_are_pickled_and_credentials_of_the_environment_are_not(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-environment")
    opening = Opening("s3://lake/t", {}, {"access_key": "AKIA", "secret_key": "an-option"})
    data = pickle.dumps(opening)
    assert b"an-option" in data
    assert b"of-the-environment" not in data
    assert "an-option" not in repr(opening)
