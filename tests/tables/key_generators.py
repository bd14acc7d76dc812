"""The tables of the key generators: how each of them writes partition paths, and what the rows are.

Every table has the same rows and columns and differs in its partition columns and the options that make paths of them.
The rows ``k0`` to ``k5`` are inserted; ``c0`` to ``c2`` come with a bulk insert, which makes paths in another way.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

__all__ = ["COLUMNS", "STORIES", "Story", "rows_of"]

COLUMNS = {
    "id": "string",
    "ts": "bigint",
    "s": "string",
    "s2": "string",
    "d": "date",
    "i": "int",
    "l": "bigint",
    "t": "timestamp",
    "f": "double",
    "m": "decimal(10,2)",
    "b": "boolean",
    "tx": "string",
}
UTC = datetime.timezone.utc
_GENERATOR = "hoodie.datasource.write.keygenerator.class"
_HIVE_STYLE = "hoodie.datasource.write.hive_style_partitioning"
_ENCODED = "hoodie.datasource.write.partitionpath.urlencode"
_SLASHES = "hoodie.datasource.write.slash.separated.date.partitioning"
_DROP = "hoodie.datasource.write.drop.partition.columns"
_SYNC = "hoodie.datasource.hive_sync.partition_extractor_class"
_MOMENTS = (
    datetime.datetime(2022, 12, 31, 13, 14, 15, tzinfo=UTC),
    datetime.datetime(2022, 12, 31, 23, 30, 0, tzinfo=UTC),
    datetime.datetime(2023, 1, 1, 5, 6, 7, 891000, tzinfo=UTC),
    datetime.datetime(1999, 2, 28, 23, 59, 59, tzinfo=UTC),
    datetime.datetime(2024, 2, 29, 12, 0, 0, tzinfo=UTC),
    datetime.datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC),
)
TEXTS = ("alpha", "a b", "50%20x", None, "", "null")
ENCODED_TEXTS = ("alpha", "x/y", "k=v", None, "50%20x", "c:d")
SLASHED = ("2022/12/31", "2022/12/31", "2023/01/01", "plain", None, "a/b")
EQUALS = ("s=x", "k=v", "x", "t=", None, "v")
DAYS = ("2022-12-31", "2023-01-01", "2022-12-31", "1999-02-28", None, "2024-02-29")
MIXED = ("2022-12-31", "2022/12/31", "2022-12-31x", "2023-1-2", "20221231", None)


@dataclass(frozen=True)
class Story:
    """``partition``: the value of partitionpath.field; ``texts``: those of the column ``s`` of the first eight rows."""

    partition: str
    generator: str = "SimpleKeyGenerator"
    texts: tuple[str | None, ...] = TEXTS
    options: dict[str, str] = field(default_factory=dict)
    mor: bool = False
    ordering: str = "ts"
    releases: tuple[str, ...] = ("0.15.0", "1.0.2", "1.2.0")
    bulk: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.partition(":")[0] for part in self.partition.split(",") if part)

    def write_options(self, name: str, *, has_statistics: bool) -> dict[str, str]:
        write = "hoodie.datasource.write"
        return {
            "hoodie.table.name": name,
            f"{write}.recordkey.field": "id",
            f"{write}.precombine.field": self.ordering,
            f"{write}.table.type": "MERGE_ON_READ" if self.mor else "COPY_ON_WRITE",
            f"{write}.partitionpath.field": self.partition,
            _GENERATOR: f"org.apache.hudi.keygen.{self.generator}",
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.index.type": "SIMPLE",
            "hoodie.index.bloom.num_entries": "50",
            "hoodie.bloom.index.filter.dynamic.max.entries": "100",
            "hoodie.metadata.bloom.filter.dynamic.max.entries": "100",
            "hoodie.insert.shuffle.parallelism": "1",
            "hoodie.bulkinsert.shuffle.parallelism": "1",
            "hoodie.upsert.shuffle.parallelism": "1",
            "hoodie.embed.timeline.server": "false",
            "hoodie.clean.automatic": "false",
            "hoodie.compact.inline": "false",
            "hoodie.metadata.enable": str(has_statistics).lower(),
            "hoodie.metadata.index.column.stats.enable": str(has_statistics).lower(),
            "hoodie.metadata.index.column.stats.column.list": ",".join(name for name in COLUMNS),
            "hoodie.metadata.index.column.stats.file.group.count": "1",
            "hoodie.metadata.index.partition.stats.enable": "false",
            "hoodie.metadata.record.index.enable": "false",
            "hoodie.metadata.global.record.level.index.enable": "false",
            "hoodie.metadata.index.column.stats.processing.mode.override": "in-memory",
            **self.options,
        }


def rows_of(story: Story) -> list[tuple[Any, ...]]:
    """The twelve rows in the order of COLUMNS; the first eight are inserted."""
    texts = story.texts
    days = [datetime.date.fromisoformat(one) if one else None for one in DAYS]
    whole = (7, -7, 7, 100, None, 2_147_483_647)
    floats = (1.5, -0.25, 1e10, 1e-7, None, 100.0)
    exact = ("1.50", "-0.25", "100.00", "7.00", None, "99999.99")
    truths = (True, False, True, True, None, False)
    made = []
    for n in (*range(6), *(range(3) if story.bulk else ())):
        moment = _MOMENTS[n]
        number = exact[n]
        made.append(
            (
                f"{'k' if len(made) < 6 else 'c'}{n}",
                len(made),
                texts[n],
                f"v{n % 3}",
                days[n],
                whole[n],
                int(moment.timestamp() * 1000),
                moment,
                floats[n],
                None if number is None else Decimal(number),
                truths[n],
                moment.strftime("%Y-%m-%d %H:%M:%S"),
            )
        )
    return made


def _timestamps(kind: str, output: str, **more: str) -> dict[str, str]:
    settings = {"timestamp.type": kind, "output.dateformat": output, **more}
    return {
        f"{prefix}.{name}": value
        for prefix in ("hoodie.keygen.timebased", "hoodie.deltastreamer.keygen.timebased")
        for name, value in settings.items()
    }


_HIVE = {_HIVE_STYLE: "true"}
_BOTH = {_HIVE_STYLE: "true", _ENCODED: "true"}
_TIMES = "TimestampBasedKeyGenerator"
_CUSTOM = "CustomKeyGenerator"
_TEXT_TIME = {"input.dateformat": "yyyy-MM-dd HH:mm:ss", "input.dateformat.timezone": "UTC"}

STORIES: dict[str, Story] = {
    # text, in every layout of the paths
    "text": Story("s"),
    "text_hive": Story("s", options=_HIVE),
    "text_encoded": Story("s", bulk=True, texts=ENCODED_TEXTS, options={_ENCODED: "true"}),
    "text_both": Story("s", texts=ENCODED_TEXTS, options=_BOTH),
    "text_slashed": Story("s", texts=SLASHED),
    "text_slashed_hive": Story("s", texts=SLASHED, options=_HIVE),
    "text_equals": Story("s", texts=EQUALS),
    "text_equals_hive": Story("s", texts=EQUALS, options=_HIVE),
    "text_days": Story("s", texts=DAYS),
    "text_mor": Story("s", mor=True),
    "text_slashed_mor": Story("s", texts=SLASHED, mor=True),
    # other types
    "date": Story("d", bulk=True),
    "date_hive": Story("d", options=_HIVE),
    "int": Story("i"),
    "long_hive": Story("l", options=_HIVE),
    "double": Story("f", bulk=True),
    "decimal_hive": Story("m", bulk=True, options=_HIVE),
    "boolean": Story("b"),
    "timestamp": Story("t"),
    "timestamp_both": Story("t", bulk=True, options=_BOTH),
    "timestamp_logical": Story(
        "t",
        bulk=True,
        options={**_BOTH, "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled": "true"},
    ),
    "date_mor": Story("d", mor=True, options=_HIVE),
    # dates with slashes
    "slash_text": Story("s", texts=DAYS, options={_SLASHES: "true"}),
    "slash_mixed": Story("s", texts=MIXED, options={_SLASHES: "true"}),
    "slash_date": Story("d", options={_SLASHES: "true"}),
    "slash_mor": Story("s", texts=DAYS, options={_SLASHES: "true"}, mor=True),
    "slash_two": Story("s,i", "ComplexKeyGenerator", texts=DAYS, options={_SLASHES: "true"}),
    "slash_extractor": Story(
        "s",
        texts=DAYS,
        options={_SLASHES: "true", _SYNC: "org.apache.hudi.hive.SlashEncodedDayPartitionValueExtractor"},
    ),
    "slash_drop": Story("s", texts=DAYS, options={_SLASHES: "true", _DROP: "true"}),
    # several columns
    "complex": Story("s,i", "ComplexKeyGenerator", texts=DAYS),
    "complex_hive": Story("s,d", "ComplexKeyGenerator", options=_HIVE),
    "complex_both": Story("s,i", "ComplexKeyGenerator", texts=ENCODED_TEXTS, options=_BOTH),
    "complex_slashed": Story("s,i", "ComplexKeyGenerator", texts=SLASHED),
    "complex_one": Story("s", "ComplexKeyGenerator", options=_HIVE),
    # moments that a key generator formats
    "times_day": Story("l", _TIMES, bulk=True, options=_timestamps("EPOCHMILLISECONDS", "yyyy/MM/dd")),
    "times_day_hive": Story("l", _TIMES, options={**_HIVE, **_timestamps("EPOCHMILLISECONDS", "yyyy-MM-dd")}),
    "times_number": Story("l", _TIMES, options=_timestamps("EPOCHMILLISECONDS", "yyyyMMdd")),
    "times_zone": Story(
        "l", _TIMES, options=_timestamps("EPOCHMILLISECONDS", "yyyy/MM/dd/HH", timezone="America/New_York")
    ),
    "times_text": Story("tx", _TIMES, options=_timestamps("DATE_STRING", "yyyy-MM-dd", **_TEXT_TIME)),
    "times_text_hour": Story("tx", _TIMES, options=_timestamps("DATE_STRING", "yyyy/MM/dd/HH", **_TEXT_TIME)),
    "times_unix": Story("i", _TIMES, options=_timestamps("UNIX_TIMESTAMP", "yyyy-MM-dd")),
    "times_scalar": Story(
        "i", _TIMES, options=_timestamps("SCALAR", "yyyy-MM-dd", **{"timestamp.scalar.time.unit": "DAYS"})
    ),
    "times_micros": Story("t", _TIMES, options=_timestamps("EPOCHMICROSECONDS", "yyyy-MM-dd")),
    "times_date": Story("d", _TIMES, options=_timestamps("EPOCHMILLISECONDS", "yyyy/MM")),
    "times_mor": Story("l", _TIMES, mor=True, options=_timestamps("EPOCHMILLISECONDS", "yyyy/MM/dd")),
    "times_drop": Story("l", _TIMES, options={_DROP: "true", **_timestamps("EPOCHMILLISECONDS", "yyyyMMdd")}),
    # a way for each column
    "custom_simple": Story("s:SIMPLE", _CUSTOM),
    "custom_times": Story("l:TIMESTAMP", _CUSTOM, options=_timestamps("EPOCHMILLISECONDS", "yyyyMMdd")),
    "custom_two": Story(
        "s:SIMPLE,l:TIMESTAMP", _CUSTOM, texts=DAYS, options=_timestamps("EPOCHMILLISECONDS", "yyyyMMdd")
    ),
    "custom_two_hive": Story(
        "l:TIMESTAMP,s:SIMPLE", _CUSTOM, options={**_HIVE, **_timestamps("EPOCHMILLISECONDS", "yyyy-MM-dd")}
    ),
    "custom_drop": Story(
        "s:SIMPLE,l:TIMESTAMP",
        _CUSTOM,
        texts=DAYS,
        options={_DROP: "true", **_timestamps("EPOCHMILLISECONDS", "yyyyMMdd")},
    ),
    # the rest
    "none": Story("", "NonpartitionedKeyGenerator"),
    "global_delete": Story("", "GlobalDeleteKeyGenerator"),
    "drop": Story("s", options={_DROP: "true"}),
    "drop_hive": Story("s", options={_HIVE_STYLE: "true", _DROP: "true"}),
    "drop_both": Story("s", texts=ENCODED_TEXTS, options={**_BOTH, _DROP: "true"}),
    "drop_date": Story("d", options={_DROP: "true"}),
    "drop_int": Story("i", options={_DROP: "true", _HIVE_STYLE: "true"}),
    "ordering": Story("s", texts=SLASHED, ordering="s"),
    "ordering_encoded": Story("s", ordering="s", options=_HIVE),
    "extractor_day": Story(
        "s", texts=SLASHED[:3] * 2, options={_SYNC: "org.apache.hudi.hive.SlashEncodedDayPartitionValueExtractor"}
    ),
    "extractor_multi": Story(
        "s,i", "ComplexKeyGenerator", texts=DAYS, options={_SYNC: "org.apache.hudi.hive.MultiPartKeysValueExtractor"}
    ),
    "extractor_hive": Story(
        "s", options={_HIVE_STYLE: "true", _SYNC: "org.apache.hudi.hive.HiveStylePartitionValueExtractor"}
    ),
}
