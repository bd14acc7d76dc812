"""How many of 60 files a filter keeps, as analysts write it: one that is decided by a wide range skips nothing."""

from __future__ import annotations

import pytest

from evaluator.language.clock import Clock
from evaluator.language.semantics import Semantics
from handler.sql import parse
from tests.evaluator.short_forms import outcome_of
from tests.handler.sql.dated_events import known

#: Filter -> the most files that it may keep, in Spark without ANSI mode and in Hive 4.
BOTH = {
    "cast(ds as date) >= date '2026-05-01'": 20,
    "to_date(ds) = '2026-05-01'": 7,
    "to_date(ds) between '2026-05-01' and '2026-05-31'": 7,
    "ds >= date '2026-05-01'": 20,
    "year(ds) = 2025": 31,
    "year(ds) = 2026 and month(ds) = 5": 7,
    "date_format(ds, 'yyyy-MM') = '2026-05'": 9,
    "datediff(date '2026-05-31', ds) between 0 and 30": 7,
    "date_add(ds, 7) >= date '2026-05-08'": 20,
    "add_months(ds, 1) > date '2026-06-01'": 20,
    "last_day(ds) = '2026-05-31'": 7,
    "to_date(ts) = '2026-05-01'": 7,
    "cast(iso as date) = '2026-05-01'": 7,
    "to_date(from_unixtime(l)) = '2026-05-01'": 7,
    "ds >= date_sub(current_date(), 30)": 5,
    "substr(ts, 1, 7) = '2026-05'": 4,
    "substr(uid, 6) = '000110000'": 1,
    "concat(y, '-', m) = '2026-5'": 7,
    "concat(substr(dks, 1, 4), '-', substr(dks, 5, 2)) = '2026-05'": 6,
    "replace(ym, '-', '') = '202605'": 13,
    "regexp_replace(ds, '-', '') = '20260501'": 13,
    "d like '2026-05-01%'": 1,
    "substr(d, 1, 7) = '2026-05'": 4,
    "t like '2026-05-01%'": 1,
    "cast(sid as bigint) = 110000": 3,
    "cast(dk as string) like '202605%'": 4,
    "lower(c) = 'berlin'": 6,
    "concat(c, '-', y) = 'berlin-2025'": 6,
}
#: Where a list of numbers reads texts.
READ = {
    "sid in (110000, 120000)": 7,
    "dks in (20260501, 20260502)": 3,
    "cast(dks as bigint) in (20260501, 20260502)": 2,
}
#: Of Spark, without ANSI mode or with its errors hidden.
OF_SPARK = {
    "ts >= timestamp '2026-05-01 00:00:00'": 20,
    "to_timestamp(iso) >= '2026-05-01'": 20,
    "ts >= now() - interval 7 days": 3,
    "hour(ts) = 5 and date(ts) = '2026-05-01'": 7,
    "to_date(dks, 'yyyyMMdd') >= date '2026-05-01'": 21,
    "to_date(dks, 'yyyyMMdd') = date '2026-05-01'": 12,
    "to_date(cast(dk as string), 'yyyyMMdd') >= date '2026-05-01'": 21,
    "to_timestamp(ts, 'yyyy-MM-dd HH:mm:ss') >= '2026-05-01 10:00:00'": 21,
    "unix_timestamp(ts) >= 1777593600": 21,
    "dk >= date_format(current_date() - 7, 'yyyyMMdd')": 1,
    "make_date(y, m, 1) >= date '2026-05-01'": 19,
    "concat(y, '-', lpad(m, 2, '0')) = '2026-05'": 6,
    "lpad(id, 9, '0') = '000110000'": 1,
    "split_part(uid, '-', 2) between '000110000' and '000111000'": 2,
    "replace(uid, 'user-', '') = '000110000'": 13,
    "regexp_replace(uid, 'user-', '') = '000110000'": 13,
    "concat_ws('|', c, ym) = 'berlin|2025-02'": 4,
    "sid between 110000 and 111000": 4,
    "dks between 20260501 and 20260531": 5,
    "t >= '2026-05-01T00:00:00Z'": 18,
    "t >= cast('2026-05-01T02:00:00+02:00' as timestamp)": 18,
    "substr(t, 1, 10) = '2026-05-01'": 1,
    "equal_null(c, 'berlin')": 6,
}


#: Without ANSI mode Spark compares them as texts.
MEANT_AS_TEXTS = {"sid in (110000, 120000)": 2, "dks in (20260501, 20260502)": 1}
BY_ENGINE = {
    "spark-legacy": BOTH | OF_SPARK | MEANT_AS_TEXTS,
    "spark-try": BOTH | OF_SPARK | READ,
    "hive3": READ,
    "hive4": BOTH | READ,
}


@pytest.mark.parametrize("engine", BY_ENGINE)
def test_usual_filters_keep_few_files(engine: str) -> None:
    semantics = Semantics.named(engine, "UTC").at(Clock.from_now_on(zone_known=True))
    files, too_many = known(), {}
    for text, most in BY_ENGINE[engine].items():
        condition = parse(text, engine)  # type: ignore[arg-type]
        kept = sum("T" in outcome_of(condition, one, semantics) for one in files)
        if kept > most:
            too_many[text] = kept
    assert not too_many
