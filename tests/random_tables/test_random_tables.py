"""A stored random table loses no file group, and recipes are what a seed makes of them.

`make torture-tables` writes new ones with real Hudi. 337, MERGE_ON_READ with three secondary indexes, was made with

    python -m tests.random_tables --tables 1 --seed 337 --conditions 150 --store

5 was made in the same way before there were secondary indexes: its seed makes another table now.
"""

from __future__ import annotations

import json
import random
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.random_tables.__main__ import STORED
from tests.random_tables.check import check
from tests.random_tables.conditions import conditions
from tests.random_tables.life import STEPS, Life, condition
from tests.random_tables.recipe import Recipe
from tests.sampling import examples, share
from tests.tables.releases import RELEASES


@pytest.fixture(params=share(sorted(STORED.glob("*.tar.xz")), 2, seed=1), ids=lambda path: path.name.partition(".")[0])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path / "table", filter="data")
    truth = tmp_path / "table" / "truth.json"
    document = json.loads(truth.read_text(encoding="utf-8"))
    document["groups"] = dict(share(document["groups"].items(), 2))
    truth.write_text(json.dumps(document), encoding="utf-8")
    return tmp_path / "table"


def test_no_condition_loses_a_file_group(home: Path, tmp_path: Path) -> None:
    found = check(home, tmp_path / "own")
    assert found.lost == []
    paths = ("text, legacy", "text, ansi", "time travel, ansi", "bytes of Hive 4.0.1", "own indexes, all")
    assert all(found.asked[path] > examples(16, at_night=50) and found.kept[path] > 0 for path in paths), found.asked


@pytest.mark.nightly
def test_a_file_group_that_is_needed_and_not_kept_is_found(home: Path, tmp_path: Path) -> None:
    document = json.loads((home / "truth.json").read_text(encoding="utf-8"))
    text = next(text for text, modes in document["groups"].items() if isinstance(modes["ansi"], list))
    document["groups"] = {text: {"ansi": [[*groups, "no-such-group"] for groups in document["groups"][text]["ansi"]]}}
    (home / "truth.json").write_text(json.dumps(document), encoding="utf-8")
    assert len(check(home, tmp_path / "own").lost) == len(document["instants"]) + 2  # and of two own indexes


def test_a_seed_gives_the_same_table_and_conditions_always() -> None:
    for seed in range(20):
        assert Recipe.of(seed) == Recipe.of(seed)
        assert conditions(Recipe.of(seed), 40) == conditions(Recipe.of(seed), 40)
    assert Recipe.of(1) != Recipe.of(2)


def test_seeds_reach_every_operation_layout_and_index() -> None:
    recipes = [Recipe.of(seed) for seed in range(200)]
    operations = Counter(commit.operation for recipe in recipes for commit in recipe.commits)
    assert set(operations) == {"insert", "bulk_insert", "upsert", "delete", "insert_overwrite", "merge"}
    options = Counter(name for recipe in recipes for commit in recipe.commits for name in commit.options)
    assert {"compact__inline", "clustering__inline"} <= set(options)
    assert {recipe.writer["partition"] for recipe in recipes} == {None, "p", "dt", "p,dt"}
    assert {index for recipe in recipes for index in recipe.writer["indexes"]} == {"col", "part", "rli", "bloom"}
    assert {(recipe.release, recipe.writer["mor"]) for recipe in recipes} == {
        (release, is_mor) for release in ("0.15.0", "1.0.2", "1.2.0") for is_mor in (False, True)
    }


def test_seeds_reach_what_merged_rows_and_secondary_indexes_meet() -> None:
    recipes = [Recipe.of(seed) for seed in range(200)]
    merged = [recipe for recipe in recipes if recipe.writer["mor"]]
    indexed = [(recipe, n) for recipe in merged for n, one in enumerate(recipe.commits) if one.indexed]
    assert {(recipe.release, len(recipe.commits[n].indexed)) for recipe, n in indexed} == {
        (release, many) for release in ("1.0.2", "1.2.0") for many in (1, 2, 3)
    }
    later = {(one.operation, bool(one.options)) for recipe, n in indexed for one in recipe.commits[n + 1 :]}
    assert {("upsert", False), ("upsert", True), ("delete", False)} <= later
    assert any(recipe.writer.get("datasource__write__precombine__field") == "" for recipe in merged)
    assert any("logfile__data__block__format" in recipe.writer for recipe in merged)
    assert any(map(_changes_come_late, merged))


def test_lives_reach_every_step_and_are_kept_between_releases(tmp_path: Path) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(40):
        life, rng = Life.of(seed), random.Random(seed)
        for release in RELEASES:
            for _ in range(30):
                step = life.step(rng, release, "t", ("3", "2", "1"), ("2",))
                kinds[step.kind] += 1
                assert bool(step.sql) != (step.own is not None)
                assert condition(rng, life)
        life.log.append("a step")
        life.save(tmp_path)
        assert Life.load(seed, tmp_path) == life != Life.of(seed)
    assert set(kinds) == STEPS


def _changes_come_late(recipe: Recipe) -> bool:
    """Whether a row meets a later version with an older ordering value."""
    newest: dict[str, int] = {}
    for row in (row for commit in recipe.commits for row in commit.rows):
        if row["ts"] < newest.get(row["id"], 0):
            return True
        newest[row["id"]] = row["ts"]
    return False
