"""The commits of each table, and the releases of Hudi that write it.

A story is a few commits. File numbers are those of ``rows``: every insert writes two files (partitioned tables: into
two partitions), so that a table has ten or twelve small files, two of them updated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.tables.rows import ROWS_A_FILE, day, files, row
from tests.tables.writer import Writer

ALL = ("col", "part", "rli")


@dataclass(frozen=True)
class Story:
    """`write` makes the commits; `writer` has the arguments of the Writer."""

    write: Callable[[Writer], None]
    releases: tuple[str, ...]
    writer: dict[str, Any]


def inserted(writer: Writer, *pairs: int) -> None:
    """Files 2n and 2n + 1 for each n, in one commit where each file has its own partition, otherwise in two."""
    for pair in pairs:
        if writer.partition == "p":
            writer.write("insert", files(2 * pair, 2 * pair + 1))
        else:
            writer.write("insert", files(2 * pair))
            writer.write("insert", files(2 * pair + 1))


def changed(writer: Writer, *, compact: bool = False) -> None:
    """Rows of files 0, 1, 2 and 9 move far up and get other texts; rows of files 1 and 9 are deleted."""
    moved = [
        row(n, shift=100, ts=2, s=text, f=1e9, d=-0.5)
        for n, text in ((3, "ZEBRA"), (9, "upd$ated\\x"), (12, None), (18, "10.0"), (75, "Ä"))
    ]
    inline = {"compact__inline": "true", "compact__inline__max__delta__commits": "1"} if compact else {}
    writer.write("upsert", moved, **inline)
    writer.write("delete", [row(n, ts=3) for n in (14, 73)])


def wide_cow(writer: Writer) -> None:
    """Updates, a delete, a clustering, then rows again. The clustering keeps statistics of `u`, the others do not."""
    inserted(writer, 0, 1, 2, 3, 4)
    changed(writer)
    if writer.release.table_version == 9:
        # as a user does it: the procedure keeps statistics of the columns that are its own default
        writer.sql(
            "call run_clustering(path => '{path}', order => 'i', options => "
            "'hoodie.clustering.plan.strategy.max.num.groups=2,"
            "hoodie.clustering.plan.strategy.small.file.limit=10000000')"
        )
        inserted(writer, 5)
    else:
        writer.write(
            "insert",
            files(10, 11),
            clustering__inline="true",
            clustering__inline__max__commits="1",
            clustering__plan__strategy__sort__columns="i",
            clustering__plan__strategy__max__num__groups="2",
        )
    if writer.release.table_version > 6:  # 0.15.0 cannot update decimals that a clustering wrote
        writer.write("upsert", [row(n, shift=120, ts=4) for n in (81, 90)])


def wide_mor(writer: Writer) -> None:
    """Updates and deletes that stay in log files; in version 9 after a compaction."""
    inserted(writer, 0, 1, 2, 3, 4)
    changed(writer, compact=writer.release.table_version == 9)
    writer.write("upsert", [row(n, shift=-200, ts=5) for n in (2, 20, 50)])


def flat_cow(writer: Writer) -> None:
    """No partitions; bloom filters of the record key and of `s`."""
    inserted(writer, 0, 1, 2, 3, 4)
    changed(writer)


def flat_mor(writer: Writer) -> None:
    inserted(writer, 0, 1, 2, 3, 4)
    changed(writer)
    writer.write("delete", [row(n, ts=6) for n in range(16, 24)])  # all rows of file 2


def grown(writer: Writer) -> None:
    """Column `extra` comes with file 2, `w` becomes a bigint with file 4."""
    writer.write("insert", files(0, 1), without=("extra",), types={"w": "int"})
    writer.write("insert", files(2, 3), types={"w": "int"})
    inserted(writer, 2, 3, 4)
    writer.write("upsert", [row(n, shift=7, ts=2, w=3 * 10**9 + n, extra=n) for n in (1, 9)])


def days_cow(writer: Writer) -> None:
    """Partitioned by a date, one file a day."""
    for first in (0, 3, 6):
        writer.write(
            "insert",
            [
                {**regular, "dt": None if n == 8 else day(f"2020-0{n + 1}-15")}
                for n in range(first, first + 3)
                for regular in files(n)
            ],
        )


def bare_cow(writer: Writer) -> None:
    """No metadata table at all."""
    inserted(writer, 0, 1, 2, 3, 4)
    changed(writer)


def expr_cow(writer: Writer) -> None:
    """Expression indexes made by SQL: bounds of year(dt) and lower(s), bloom filters of id and of upper(s)."""
    inserted(writer, 0, 1, 2, 3, 4)
    writer.write("upsert", [row(n, ts=9, s="ZEBRA") for n in (3, 25)])
    writer.register()
    for name, definition in (
        ("year", "column_stats(dt) options(expr='year')"),
        ("lower", "column_stats(s) options(expr='lower')"),
        ("hour", "column_stats(ts) options(expr='from_unixtime', format='yyyy-MM-dd')"),
        ("key", "bloom_filters(id) options(expr='identity', numentries='100')"),
    ):
        writer.sql(f"create index ix_{name} on {{table}} using {definition}")


def secondary_cow(writer: Writer) -> None:
    """Secondary indexes on `s` and `dt`, with updates after that."""
    inserted(writer, 0, 1, 2)
    writer.register()
    for column in ("s", "dt"):
        writer.sql(f"create index si_{column} on {{table}} ({column})")
    inserted(writer, 3, 4)
    writer.write("upsert", [row(n, ts=9, s="upd$ated\\x") for n in (3, 25)])


STORIES = {
    "wide_cow": Story(wide_cow, ("0.15.0", "1.0.2", "1.2.0"), {"partition": "p", "indexes": ALL}),
    "wide_mor": Story(wide_mor, ("0.15.0", "1.0.2", "1.2.0"), {"partition": "p", "indexes": ALL, "mor": True}),
    "flat_cow": Story(
        flat_cow,
        ("0.15.0", "1.2.0"),
        {"indexes": ("col", "rli", "bloom"), "metadata__index__bloom__filter__column__list": "id,s"},
    ),
    "flat_mor": Story(flat_mor, ("1.2.0",), {"indexes": ("col", "rli"), "mor": True}),
    "grown_cow": Story(
        grown,
        ("1.2.0",),
        {"partition": "p", "indexes": ("col", "part"), "datasource__write__hive_style_partitioning": "false"},
    ),
    "grown_mor": Story(grown, ("1.0.2", "1.2.0"), {"partition": "p", "indexes": ("col", "part"), "mor": True}),
    "days_cow": Story(days_cow, ("1.2.0",), {"partition": "dt", "indexes": ("col", "part")}),
    "bare_cow": Story(bare_cow, ("1.0.2",), {"partition": "p", "indexes": ()}),
    "expr_cow": Story(expr_cow, ("1.2.0",), {"indexes": ("col",)}),
    "secondary_cow": Story(secondary_cow, ("1.2.0",), {"indexes": ("col", "rli")}),
}
assert ROWS_A_FILE == 8
