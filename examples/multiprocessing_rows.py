"""Reads the rows of a Hudi table that satisfy a condition in several processes. Ray and Dask take the same tasks.

pip install sargo
python multiprocessing_rows.py /data/trips "fare > 50" 4
"""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import sargo


def count(task) -> tuple[int, int, int]:
    """What a worker does with its task: here it counts slices, bytes and rows."""
    return task.slices, task.bytes, task.to_table().num_rows


def main(path: str, where: str, workers: str) -> None:
    """Print what each process has read, and the sum of the rows."""
    tasks = sargo.scan(path, where).tasks(int(workers))
    total = 0
    with ProcessPoolExecutor(int(workers), multiprocessing.get_context("spawn")) as pool:
        for slices, size, rows in pool.map(count, tasks):
            print(f"{slices} slices, {size} bytes: {rows} rows")
            total += rows
    print("rows:", total)


if __name__ == "__main__":
    main(*sys.argv[1:])
