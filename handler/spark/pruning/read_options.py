"""Hudi's read options, as ``spark.read.format("hudi")`` takes them: what Sargo does with each.

    option or setting                            what is done
    as.of.instant                                ``as_of``
    hoodie.datasource.query.type,
    hoodie.query.as.ro.table                     ``query``: snapshot or read_optimized
    hoodie.schema.on.read.enable                 an error where columns were renamed, or dropped and added again
    those that change speed or memory alone      nothing
    those that give other rows                   an error that names the option and says what to do

An option that is ignored without a word would return other rows than Hudi does. Names are compared without regard to
letter case, as Spark does. Sources: ``DataSourceReadOptions``, ``HoodieReaderConfig``, ``HoodieCommonConfig`` of Hudi
0.15.0, 1.0.2 and 1.2.0.

Facts: docs/facts/spark.md#hudis-read-options.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal, TypeVar, cast, get_args

from pyspark.sql import SparkSession

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from handler.spark.catalyst.known_settings import KnownSettings, known_settings

__all__ = [
    "AS_OF",
    "BY_ID",
    "FROM_SESSION",
    "QUERY_TYPE",
    "Query",
    "ReadOptions",
    "agreed",
    "read_options",
    "settings_of",
]

Query = Literal["snapshot", "read_optimized"]
Asked = TypeVar("Asked", str, Query)

AS_OF = "as.of.instant"
QUERY_TYPE = "hoodie.datasource.query.type"
BY_ID = "hoodie.schema.on.read.enable"
_AS_RO_TABLE = "hoodie.query.as.ro.table"
_BOOLEANS = ("true", "false")

_INCREMENTAL = (
    "it belongs to an incremental query, and Sargo reads snapshots and base files: leave it out, or read the changes "
    'with format("hudi")'
)
_STREAMING = 'it belongs to a stream, and Sargo reads tables: leave it out, or use readStream.format("hudi")'
_MERGING = 'it merges rows in another way than the table\'s own properties: leave it out, or read with format("hudi")'
_PATHS = "it reads a part of the table: leave it out, and name the partitions in the condition"
_RELATION = 'it reads something else than the rows of the table: leave it out, or read with format("hudi")'
_FROM_PATH = (
    "values of partition columns are those that the files hold, as by default in Hudi: leave it out, or read with "
    'format("hudi")'
)
_TIME_TRAVEL = f"Hudi does not read it: give the instant as {AS_OF}"
_OLD_NAME = f"an old name under which Hudi reads a snapshot: give {QUERY_TYPE}"

#: Options that give other rows: the value with which they do not, and what to do instead.
_OTHER_ROWS: Mapping[str, tuple[str | None, str]] = {
    "hoodie.datasource.read.begin.instanttime": (None, _INCREMENTAL),
    "hoodie.datasource.read.end.instanttime": (None, _INCREMENTAL),
    "hoodie.datasource.read.start.timestamp": (None, _INCREMENTAL),
    "hoodie.datasource.read.end.timestamp": (None, _INCREMENTAL),
    "hoodie.datasource.query.incremental.format": ("latest_state", _INCREMENTAL),
    "hoodie.datasource.read.schema.use.end.instanttime": ("false", _INCREMENTAL),
    "hoodie.datasource.read.incr.fallback.fulltablescan.enable": ("false", _INCREMENTAL),
    "hoodie.datasource.read.incr.filters": ("", _INCREMENTAL),
    "hoodie.datasource.read.incr.path.glob": ("", _INCREMENTAL),
    "hoodie.datasource.read.incr.skip_cluster": ("false", _INCREMENTAL),
    "hoodie.datasource.read.incr.skip_compact": ("false", _INCREMENTAL),
    "hoodie.datasource.read.incr.table.version": (None, _INCREMENTAL),
    "hoodie.read.timeline.holes.resolution.policy": ("fail", _INCREMENTAL),
    "hoodie.datasource.streaming.startoffset": (None, _STREAMING),
    "hoodie.datasource.read.streaming.table.version": (None, _STREAMING),
    "hoodie.datasource.merge.type": ("payload_combine", _MERGING),
    "hoodie.datasource.write.record.merger.impls": (None, _MERGING),
    "hoodie.write.record.merge.custom.implementation.classes": (None, _MERGING),
    "hoodie.datasource.read.paths": (None, _PATHS),
    "glob.paths": (None, _PATHS),
    "hoodie.datasource.read.create.filesystem.relation": ("false", _RELATION),
    "hoodie.datasource.read.table.valued.function.filesystem.relation.subpath": ("", _RELATION),
    "hoodie.datasource.read.table.valued.function.timeline.relation": ("false", _RELATION),
    "hoodie.datasource.read.table.valued.function.timeline.relation.archived": ("false", _RELATION),
    "hoodie.read.blob.inline.mode": (None, _RELATION),
    "hoodie.datasource.read.extract.partition.values.from.path": ("false", _FROM_PATH),
    "hoodie.datasource.read.partition.value.extractor.enabled": ("false", _FROM_PATH),
    "hoodie.datasource.view.type": ("realtime", _OLD_NAME),
    "timestampasof": (None, _TIME_TRAVEL),
    "versionasof": (None, _TIME_TRAVEL),
}
#: Options that change speed, memory or the way to the same rows.
_SAME_ROWS = frozenset(
    (
        *("hoodie.enable.data.skipping", "hoodie.file.index.enable", "hoodie.file.group.reader.enabled"),
        *("hoodie.fileindex.dataskippingfailuremode", "hoodie.datasource.read.use.new.parquet.file.format"),
        *("hoodie.merge.use.record.positions", "hoodie.optimized.log.blocks.scan.enable"),
        *("hoodie.compaction.lazy.block.read", "hoodie.compaction.reverse.log.read"),
    )
)
_SAME_ROWS_FAMILIES = ("hoodie.datasource.read.file.index.", "hoodie.file.index.cache.")
#: Names in these families are options of a reader: one that is not listed above is not known.
_READ_FAMILIES = (
    *("hoodie.datasource.read.", "hoodie.datasource.query.", "hoodie.datasource.view.", "hoodie.datasource.merge."),
    *("hoodie.datasource.streaming.", "hoodie.query.", "hoodie.read."),
)
_MAPPED = (AS_OF, QUERY_TYPE, _AS_RO_TABLE, BY_ID)
_KNOWN = (*_MAPPED, *_OTHER_ROWS, *_SAME_ROWS)
#: Similarity from which an unknown name is taken for a misspelt one; less is asked of one that is refused anyway.
_MISSPELT, _SIMILAR = 0.9, 0.7
_MAX_LENGTH = 200
_QUERIES = (QUERY_TYPE, _AS_RO_TABLE)
_FORMS = "yyyyMMddHHmmss[SSS], yyyy-MM-dd or yyyy-MM-dd HH:mm:ss[.SSS]"
_FORM = re.compile(r"\d{14}|\d{17}|\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d{3})?)?", re.ASCII)
_SPARK = "spark."
#: The key under which the options of a session are remembered.
_OPTIONS = "hudi's read options"
#: The settings of a session that Hudi's reader takes for options of a snapshot, each with the value that asks for what
#: is done without it.
FROM_SESSION: Mapping[str, str] = {
    QUERY_TYPE: "snapshot",
    _AS_RO_TABLE: "false",
    BY_ID: "false",
    **{name: same or "" for name, (same, why) in _OTHER_ROWS.items() if why in (_MERGING, _FROM_PATH)},
}


@frozen
class ReadOptions:
    """What options ask for. ``table`` are those that ``open_table`` takes; None where nothing is asked for."""

    as_of: str | None = None
    query: Query | None = None
    by_id: bool = False
    table: Mapping[str, str] = field(default_factory=dict)


def read_options(
    options: Mapping[str, str] | None, settings: Mapping[str, str] | None = None, query: Query | None = None
) -> ReadOptions:
    """What the options of a reader ask for, and the settings of the session where the options say nothing.

    ``query`` is an argument of the caller, which goes before the settings. Raises TypeError for what is no mapping of
    texts, UnsupportedError for an option that would give other rows.
    """
    given = _lower(options)
    asked: Query | None = agreed("query", query, _query(given))
    taken = _lower(settings)
    if asked is not None:
        taken = {name: value for name, value in taken.items() if name not in _QUERIES}
    for origin, named in (("option", given), ("setting", taken)):
        for name, value in named.items():
            why = "" if name in given and origin == "setting" else _refused(name, value)
            if why:
                raise UnsupportedError(f"{origin} {name:.100}={value!r:.60}: {why}")
    return ReadOptions(
        as_of=_as_of(given),
        query=asked or _query(taken),
        by_id=_boolean(taken | given, BY_ID) or False,
        table={name: value for name, value in given.items() if name not in _KNOWN and not _keeps_rows(name)},
    )


def settings_of(spark: SparkSession) -> Mapping[str, str]:
    """The settings of a session that Hudi's reader takes for options, also those written ``spark.hoodie...``."""
    known = known_settings(spark)
    if known is not None and _OPTIONS in known.remembered:
        return cast(Mapping[str, str], known.remembered[_OPTIONS])
    settings: dict[str, str] = {}
    for name, value in _given_settings(spark, known).items():
        plain = name.removeprefix(_SPARK)
        if plain in FROM_SESSION:
            settings[plain] = agreed(f"setting {plain}", settings.get(plain), value) or value
    if known is not None:
        known.remembered[_OPTIONS] = settings
    return settings


def _given_settings(spark: SparkSession, known: KnownSettings | None) -> Mapping[str, str]:
    """The settings of a session, at least those that Hudi's reader takes for options."""
    names = [prefix + name for prefix in ("", _SPARK) for name in FROM_SESSION]
    if known is not None:
        return known.values(names)
    get_all: Any = getattr(spark.conf, "getAll", None)  # from PySpark 4.0 on
    if get_all is not None:
        return cast(Mapping[str, str], get_all)
    return {name: value for name in names if (value := spark.conf.get(name, None)) is not None}


def agreed(name: str, argument: Asked | None, option: Asked | None) -> Asked | None:
    """The value that is given in one of two places. Raises UnsupportedError when they say different things."""
    if argument is not None and option is not None and argument != option:
        raise UnsupportedError(f"{name} is given twice: {argument!r:.60} and {option!r:.60}")
    return option if argument is None else argument


def _lower(options: Mapping[str, str] | None) -> dict[str, str]:
    """The options by their names in lower case. Raises TypeError for what is no mapping of texts."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"options is a dict such as {{{QUERY_TYPE!r}: 'snapshot'}}, not {type(options).__name__}")
    lower: dict[str, str] = {}
    for name, value in options.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"options are texts: {name!r:.60} is {type(value).__name__}; give str(...)")
        lower[name.lower()] = agreed(f"option {name.lower():.100}", lower.get(name.lower()), value) or value
    return lower


def _refused(name: str, value: str) -> str:
    """Why an option cannot be taken, and what to do instead; "" for one that can."""
    if name in _OTHER_ROWS:
        same, why = _OTHER_ROWS[name]
        return "" if same is not None and value.lower() == same else why
    if name in (_AS_RO_TABLE, BY_ID):
        return "" if value.lower() in _BOOLEANS else "it is true or false"
    if name == AS_OF:
        return "" if _FORM.fullmatch(value) else f"Hudi knows {_FORMS}"
    if name == QUERY_TYPE:
        if value == "incremental":
            return _INCREMENTAL
        return "" if value in get_args(Query) else f"Hudi knows {', '.join(get_args(Query))} and incremental"
    if _keeps_rows(name):
        return ""
    if name.startswith(_READ_FAMILIES):
        return "an option of a reader that is not known" + _meant(name, _KNOWN, _SIMILAR)
    meant = _meant(name, _KNOWN, _MISSPELT)
    return f"an option that is not known{meant}" if meant else ""


def _meant(name: str, known: Iterable[str], similarity: float) -> str:
    near = difflib.get_close_matches(name[:_MAX_LENGTH].replace("_", "."), known, 1, similarity)
    return f": is {near[0]} meant?" if near else ""


def _keeps_rows(name: str) -> bool:
    return name in _SAME_ROWS or name.startswith(_SAME_ROWS_FAMILIES)


def _query(given: Mapping[str, str]) -> Query | None:
    """The kind of query, which the flag that a synchronised table of a catalog has does not overrule."""
    if QUERY_TYPE in given:
        return cast(Query, given[QUERY_TYPE])
    as_ro_table = _boolean(given, _AS_RO_TABLE)
    return None if as_ro_table is None else "read_optimized" if as_ro_table else "snapshot"


def _as_of(given: Mapping[str, str]) -> str | None:
    """The instant as ``as_of`` takes it. Hudi compares digits as text: 14 of them are before that second's instants."""
    as_of = given.get(AS_OF)
    return as_of + "0" if as_of is not None and len(as_of) == 14 and as_of.isdigit() else as_of


def _boolean(given: Mapping[str, str], name: str) -> bool | None:
    return given[name].lower() == "true" if name in given else None
