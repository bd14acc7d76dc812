"""The options of a table that only its entry in a catalog has, checked for typing errors.

    hoodie.index.type                                 which index its writers use, such as BUCKET
    hoodie.index.bucket.engine, hoodie.bucket.index.* its buckets (``index_store.kinds.bucket_index``)
    sargo.rows                                        merged, or stored: then bounds of merged rows are not used
    sargo.index.paths                                 folders of own indexes that are not beside the data

A catalog's entry has many more properties, and all of them may be given. A name or a value that is no such option and
looks like one is refused, because a misspelt option would be ignored without a word. So is an option that asks a reader
of Hudi for other rows than those of the latest snapshot.

Source of the names that are no typing errors: ``HoodieIndexConfig``, ``HoodieHBaseIndexConfig``, ``FlinkOptions``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from evaluator.language.errors import UnsupportedError

__all__ = ["OTHER_INDEXES", "ROWS", "STORED", "USED", "check_table_options", "closest"]

#: The option with the folders of own indexes that are not beside the data.
OTHER_INDEXES = "sargo.index.paths"
#: The rows that readers show: merged ones, or with STORED also rows of base files that log files changed.
ROWS, STORED = "sargo.rows", "stored"
#: The options that are read.
USED = (
    "hoodie.index.type",
    "hoodie.index.bucket.engine",
    "hoodie.bucket.index.num.buckets",
    "hoodie.bucket.index.hash.field",
    "hoodie.bucket.index.partition.expressions",
    "hoodie.bucket.index.partition.rule.type",
    OTHER_INDEXES,
    ROWS,
)
_VALUES: Mapping[str, tuple[str, ...]] = {
    "hoodie.index.type": (
        *("BUCKET", "BLOOM", "GLOBAL_BLOOM", "SIMPLE", "GLOBAL_SIMPLE", "INMEMORY", "HBASE", "FLINK_STATE"),
        *("RECORD_INDEX", "RECORD_LEVEL_INDEX", "GLOBAL_RECORD_LEVEL_INDEX"),
    ),
    "hoodie.index.bucket.engine": ("SIMPLE", "CONSISTENT_HASHING"),
    ROWS: ("MERGED", "STORED"),
}
#: Names of Hudi that resemble those above.
_OTHERS = frozenset(
    (
        *("hoodie.index.class", "hoodie.index.name", "hoodie.index.function", "hoodie.index.bloom.fpp"),
        *("hoodie.index.bloom.num_entries", "hoodie.bucket.index.max.num.buckets", "hoodie.bucket.index.query.pruning"),
        *("hoodie.bucket.index.min.num.buckets", "hoodie.bucket.index.merge.threshold", "hoodie.table.name"),
        *("hoodie.bucket.index.split.threshold", "hoodie.bucket.index.remote.partitioner.enable", "hoodie.table.type"),
    )
)
_OTHER_FAMILIES = ("hoodie.index.hbase.", "hoodie.bloom.index.", "hoodie.simple.index.", "hoodie.metadata.", "index.")
#: Options of Hudi's readers that ask for other rows: the value with which they do not, and what to do instead.
_OF_READERS: Mapping[str, tuple[str | None, str]] = {
    "as.of.instant": (None, "give the instant as as_of (--as-of)"),
    "hoodie.datasource.query.type": ("snapshot", "a plan is for snapshots; handler.spark takes read_optimized"),
    "hoodie.datasource.merge.type": ("payload_combine", "a plan is for merged rows"),
    "hoodie.datasource.read.begin.instanttime": (None, "a plan is for a snapshot, not for an incremental query"),
    "hoodie.datasource.read.end.instanttime": (None, "a plan is for a snapshot, not for an incremental query"),
    "hoodie.datasource.read.paths": (None, "a plan is for the whole table: name the partitions in the condition"),
}
#: Similarity from which an unknown word is taken for a misspelt one.
_MISSPELT = 0.8
_MAX_LENGTH = 200


def check_table_options(options: Mapping[str, str] | None) -> None:
    """Raise TypeError for what is no mapping of texts, UnsupportedError for a misspelt name or value."""
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise TypeError(f"the options of a table are a dict such as {{{USED[0]!r}: 'BUCKET'}}, not {_kind(options)}")
    for name, value in options.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"the options of a table are texts: {name!r:.60} is {_kind(value)}; give str(...)")
        same, instead = _OF_READERS.get(name.lower(), ("", ""))
        if instead and value.lower() != same:
            raise UnsupportedError(f"option {name:.100}={value!r:.60} of a table: {instead}")
        if name in USED:
            _check_value(name, value)
        elif name not in _OTHERS and not name.startswith(_OTHER_FAMILIES):
            meant = closest(name, USED)
            if meant:
                raise UnsupportedError(f"option {name:.100} of a table: is {meant} meant?")


def _check_value(name: str, value: str) -> None:
    known = _VALUES.get(name, ())
    if known and value.upper() not in known:
        meant = closest(value, known)
        if meant:
            raise UnsupportedError(f"option {name}: is {meant} meant by {value!r:.60}?")
        if name == ROWS:
            raise UnsupportedError(f"option {name}: {value!r:.60} is none of {', '.join(known).lower()}")


def closest(text: str, known: Iterable[str]) -> str:
    """The known word that is probably meant by another spelling or letter case, or ""."""
    by_folded = {_folded(one): one for one in known}
    near = difflib.get_close_matches(_folded(text[:_MAX_LENGTH]), by_folded, 1, _MISSPELT)
    return by_folded[near[0]] if near else ""


def _folded(text: str) -> str:
    return text.strip().lower().replace("_", ".").replace("-", ".")


def _kind(value: object) -> str:
    return type(value).__name__
