"""The comparison of two checkouts: its verdicts, the files of a commit, and the processes. No test looks at a time."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench.compare import worker
from tests.bench.compare.checkouts import NoCommit, checked_out, commit_of
from tests.bench.compare.ratios import Comparison
from tests.bench.compare.rounds import LEAST_ROUNDS, compared


@pytest.mark.parametrize(
    ("base", "head", "ratio", "slower"),
    [
        ([1, 1, 1], [1, 1, 1], 1, False),
        ([1, 1, 1], [2, 2, 2], 2, True),
        ([2, 2, 2], [1, 1, 1], 0.5, False),
        ([0.5, 1, 1], [1, 1, 1], 2, False),  # one round of the base was lucky: the median says 1
        ([1, 1, 1], [1, 9, 9], 1, False),  # the machine was busy for two rounds: the least times say 1
        ([1], [1.31], 1.31, True),
        ([1], [1.3], 1.3, False),
    ],
)
def test_a_path_is_slower_when_the_least_times_and_most_rounds_say_so(base, head, ratio, slower):
    compared = Comparison("path", base, head)
    assert (compared.ratio, compared.is_slower(1.3)) == (ratio, slower)


def test_half_of_the_rounds_lie_within_the_spread():
    assert Comparison("path", [1] * 5, [5, 1, 2, 4, 3]).spread == (2, 3, 4)


def test_a_path_that_the_base_does_not_have_is_not_slower():
    assert not Comparison("path", [], [], why="ImportError").is_slower(1.3)


@pytest.fixture
def repository(tmp_path):
    place = tmp_path / "repository"
    place.mkdir()

    def git(*arguments):
        subprocess.run(["git", "-C", place, "-c", "user.name=a", "-c", "user.email=b", *arguments], check=True)

    git("init", "--quiet")
    for text in ("before", "now"):
        (place / "code.py").write_text(text)
        git("add", "code.py")
        git("commit", "--quiet", "--message", text)
    return place


def test_the_files_of_the_parent_are_in_a_folder_of_their_own(repository):
    (repository / "code.py").write_text("not committed")
    with checked_out(repository, commit_of(repository, "HEAD~1")) as folder:
        assert (folder / "code.py").read_text() == "before"
    assert not folder.exists()
    assert (repository / "code.py").read_text() == "not committed"
    with pytest.raises(NoCommit, match=r"there is no commit HEAD~2$"):
        commit_of(repository, "HEAD~2")


def test_a_shallow_clone_is_said_to_lack_its_history(repository, tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", repository.as_uri(), clone], check=True)
    with pytest.raises(NoCommit, match="the clone is shallow"):
        commit_of(clone, "HEAD~1")


PATHS = """
from evaluator import DONE

def prepare(folder):
    assert not list(folder.iterdir())
    (folder / "file").touch()
    return lambda: DONE.append(1)

def new(folder):
    from evaluator import NEW
    return prepare(folder)

HOT_PATHS = {"one": prepare, "another": prepare, "new": new}
"""


@pytest.fixture
def checkouts(tmp_path):
    """Two checkouts of which the second has something new, and the script of the processes."""
    found = []
    for number, text in enumerate(["DONE = []\n", "DONE, NEW = [], 1\n"]):
        place = tmp_path / f"checkout{number}"
        (place / "evaluator").mkdir(parents=True)
        (place / "evaluator" / "__init__.py").write_text(text)
        found.append(place)
    (tmp_path / "hot_paths.py").write_text(PATHS)
    shutil.copy(worker.__file__, tmp_path / "worker.py")
    return *found, tmp_path / "worker.py"


def test_both_checkouts_take_turns_and_what_is_new_has_no_ratio(checkouts):
    base, head, script = checkouts
    measured = compared(base, head, ["one", "another", "new"], 0.0, script)
    assert [one.name for one in measured] == ["one", "another", "new"]
    for one in measured[:2]:
        assert len(one.base) == len(one.head) == LEAST_ROUNDS
        assert not one.why
    assert measured[2].why.startswith("ImportError")
    assert not measured[2].base


def test_what_this_checkout_cannot_run_is_an_error(checkouts):
    base, head, script = checkouts
    with pytest.raises(RuntimeError, match="new: ImportError"):
        compared(head, base, ["new"], 0.0, script)


def test_a_process_takes_no_packages_but_those_of_its_checkout(checkouts, tmp_path):
    base, _, script = checkouts
    other = tmp_path / "other"
    Path(other).mkdir()
    with pytest.raises((RuntimeError, BrokenPipeError)):
        compared(other, base, ["one"], 0.0, script)
