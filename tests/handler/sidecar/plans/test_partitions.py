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
