"""The slices of the partitions that are asked for."""

import numpy as np
import pytest

from handler.sidecar.listed_files import ListedFiles, NotListed

PARTITIONS = ["", "2024", "2024/01/02", "2024/01/03", "2025/01", "a", "ab", "a b/c"]


def listed():
    """A slice in each partition."""
    lengths = np.ones(len(PARTITIONS), np.int64)
    numbers = {name: number for number, name in enumerate(PARTITIONS)}
    return ListedFiles(lengths, np.arange(len(PARTITIONS), dtype=np.int32), numbers)


@pytest.mark.parametrize(
    "asked", [[], [""], ["a"], ["ab"], ["2024/01/02"], ["2024/01/03", "2025/01", "a b/c"], ["", "a"]]
)
def test_they_are_those_of_these_partitions_alone(asked):
    chosen = listed().of_partitions(asked)
    assert [name for name, is_chosen in zip(PARTITIONS, chosen, strict=True) if is_chosen] == sorted(
        asked, key=PARTITIONS.index
    )


@pytest.mark.parametrize("asked", ["b", "2024/01", "2025", "2024/01/02/", "a b", "/"])
def test_a_folder_that_is_no_partition_is_refused(asked):
    with pytest.raises(NotListed, match="does not know"):
        listed().of_partitions(["a", asked])


def test_a_partition_with_others_below_it_is_refused():
    """Hudi lists 2024/01/02 for the path of 2024."""
    with pytest.raises(NotListed, match="lie below"):
        listed().of_partitions(["a", "2024"])


@pytest.mark.parametrize(
    ("asked", "unknown"),
    [
        (PARTITIONS, []),
        (["a", "b", "2024/01/04"], ["b", "2024/01/04"]),
        (["2024", "2024/01", "2025", "a b"], []),  # partitions lie below them
        (["a/b", "2025/01/02", "größe"], ["a/b", "2025/01/02", "größe"]),
        (["/", "a/", "/a", "a//b", "../a", "a/./b"], []),  # no names of folders
    ],
)
def test_a_folder_is_unknown_when_it_is_no_partition_and_has_none_below(asked, unknown):
    assert listed().unknown(asked) == unknown


def test_the_base_path_is_never_unknown():
    files = ListedFiles(np.ones(1, np.int64), np.zeros(1, np.int32), {"a": 0})
    assert files.unknown(["", "a", "b"]) == ["b"]
