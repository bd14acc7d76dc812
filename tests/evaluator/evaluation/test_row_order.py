"""Row numbers come in ascending order, however many they are and however they stood."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.evaluation.row_order import ascending

SIZES = (0, 1, 2, 63, 64, 65, 4095, 4096, 9000)
LARGEST = (1, 200, 65_535, 65_536, 3_000_000, 2**31 - 1)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("largest", LARGEST)
def test_rows_are_sorted(largest: int, dtype: type[np.generic]) -> None:
    draw = np.random.default_rng(largest)
    for size in SIZES:
        rows = draw.integers(0, largest, size, endpoint=True).astype(dtype)
        runs = np.concatenate([np.sort(part) for part in np.array_split(rows, 3)])
        for given in (rows, runs, np.sort(rows), np.sort(rows)[::-1]):
            found = ascending(given)
            assert found.dtype == dtype
            assert found.tolist() == sorted(given.tolist())
