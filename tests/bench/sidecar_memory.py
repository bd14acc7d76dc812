"""What an open table takes of the sidecar's memory: its files, and each column that filters have asked for.

The table has FILES file slices in one partition and ``column_stats`` of four columns. A view of it is asked one filter
after the other. The sidecar weighs views so, too (``sargo_cache_bytes``). The peak is that of the process, which holds
the parts of the metadata table while it reads them. The second filter on a column builds its search index.
"""

from __future__ import annotations

import base64
import multiprocessing
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from handler import open_table
from handler.sidecar.sizes import bytes_of
from handler.sidecar.view import FilterQuery, View
from tests.index_store.synthetic import write_table
from tests.sarg import kryo_writer

FILES = 100_000
_MILLION = 1_000_000
Row = tuple[str, str, str]


def run() -> Iterator[Row]:
    """Megabytes for a million files: of the table, then what each filter adds."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "sales"
        with multiprocessing.get_context("spawn").Pool(1) as other:  # its memory would be used again here
            other.apply(write_table, (root, FILES))
        before = _peak()
        view = View(open_table(root), max_evaluations=1 << 40)
        yield _row("files alone", _held(view))
        for name, column, kind, bound in (
            ("a double column, first filter", "amount", "double", 1_000.0),
            ("the same column, second filter", "amount", "double", 2_000.0),
            ("the same column, third filter", "amount", "double", 3_000.0),
            ("a string column, first filter", "name", "string", "shop-1"),
            ("the same column, second filter", "name", "string", "shop-2"),
        ):
            held = _held(view)
            decision = view.decide(FilterQuery(_less(column, kind, bound), "hive4", "UTC"))
            assert decision.planned.is_evaluated, decision.planned.reasons
            yield _row(name, _held(view) - held)
        yield _row("a decision", decision.nbytes)
        yield "process: peak beyond the start", f"{(_peak() - before) / 1e6:,.0f} MB for {FILES:,} files", ""


def _less(column: str, kind: str, bound: object) -> bytes:
    """``column < bound``, as Hive sends it."""
    hive_type = kryo_writer.type_info(kind)
    value = kryo_writer.Wrapper("java.lang.Double", bound) if kind == "double" else bound
    less = kryo_writer.function(
        "OPLessThan", kryo_writer.column(column, hive_type), kryo_writer.constant(value, hive_type)
    )
    return base64.b64encode(kryo_writer.write(less))


def _row(name: str, nbytes: int) -> Row:
    return name, f"{nbytes / FILES * _MILLION / 1e6:,.1f} MB for a million files", ""


def _held(view: View) -> int:
    """Bytes of the table and its files, weighed now."""
    return bytes_of(view.opened) + view.files.nbytes


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
