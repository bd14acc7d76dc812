"""Filters as analysts write them are decided, whatever the session's zone: none becomes unknown unnoticed."""

from __future__ import annotations

import pytest

from evaluator.binding.bind import bind
from evaluator.language.clock import Clock
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, decimal_type
from handler.sql import parse

SCHEMA = Schema(
    Field(name, of)
    for names, of in (
        ("t u", TIMESTAMP_LTZ),
        ("n", TIMESTAMP),
        ("d", DATE),
        ("s c ds", STRING),
        ("i y m", INT),
        ("l", BIGINT),
        ("f", DOUBLE),
        ("p", decimal_type(10, 2)),
        ("b", BOOLEAN),
    )
    for name in names.split()
)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
#: Of Hive and Spark.
CONDITIONS = r"""
t >= date_sub(current_date(), 7)
t between '2024-01-01' and '2024-01-31'
date(t) = '2024-01-01'
date(t) between '2024-01-01' and '2024-01-31'
cast(t as date) >= date_trunc('month', current_date())
year(t) = 2024 and month(t) = 5
date_format(t, 'yyyy-MM') = '2024-05'
date_format(t, 'yyyyMMdd') >= '20240501'
cast(ds as date) > '2024-01-01'
ds = date_format(current_date(), 'yyyy-MM-dd')
ds >= date_sub(current_date(), 7)
ds >= cast(date_sub(current_date(), 7) as string)
y * 100 + m >= 202405
hour(t) between 9 and 17
dayofweek(t) in (1, 7)
datediff(current_date(), d) <= 30
datediff(current_date(), t) <= 30
months_between(current_date(), d) < 3
add_months(d, 3) > current_date()
lower(s) = 'abc'
upper(trim(s)) like 'AB%'
s like 'ab%'
s like '%ab'
substr(s, 1, 3) = 'abc'
left(s, 2) in ('ab', 'cd')
split(s, '-')[0] = 'ab'
s in ('a', 'b') or c = 'x'
coalesce(s, '') = ''
nvl(i, 0) = 0
ifnull(i, -1) > 5
nullif(s, '') is not null
case when i > 5 then 'big' else 'small' end = 'big'
if(b, 1, 0) = 1
b
not b
b = true
b is true
b is not false
i is distinct from 5
i between 1 and 10
i + l > 5
i % 10 = 3
abs(f) < 1
round(f, 2) = 1.25
floor(f) = 3
f / 100 > 5
p * 1.19 > 100
p * i > 1000
greatest(i, l) > 100
least(i, 100) = 100
length(s) > 10
s > 'm'
cast(s as int) = 5
cast(i as string) = '5'
cast(i as string) like '12%'
concat(s, c) = 'ab'
concat(s, '-', c) = 'a-b'
(s, c) in (('a', 'b'), ('c', 'd'))
instr('a,b,c', s) > 0
instr(s, 'ab') > 0
contains(s, 'ab')
startswith(s, 'ab')
s ilike 'AB%'
t::date = '2024-01-01'
date_add(d, 7) >= current_date()
last_day(d) = '2024-01-31'
trunc(t, 'MM') = '2024-01-01'
date_trunc('hour', t) = '2024-01-01 10:00:00'
weekofyear(t) = 10
quarter(d) = 2
extract(year from t) = 2024
date_part('month', t) = 5
t + interval 1 hour > u
u - t > interval 1 hour
d - interval 1 month < '2024-01-01'
regexp_replace(s, '-', '') = 'abc'
i = 5L
i = 5.0
i = '5'
f = 0.1
isnull(s)
isnotnull(s)
isnan(f)
s <=> null
s is null or s = ''
sign(i) = 1
mod(i, 7) = 0
i & 4 = 4
md5(s) = 'abc'
sha2(s, 256) = 'abc'
char_length(s) = 3
lpad(cast(m as string), 2, '0') = '05'
reverse(s) = 'cba'
initcap(s) = 'Abc'
element_at(split(s, ','), 1) = 'a'
d in ('2024-01-01', '2024-01-02')
t in (timestamp '2024-01-01', timestamp '2024-01-02')
d = '2024-1-1'
ds like '2024-0_-01'
int(s) > 5
string(i) = '5'
date(ds) = current_date()
bigint(ds) > 20240101
cast(date_format(t, 'yyyyMMdd') as int) >= 20240501
decode(i, 1, 'a', 2, 'b') = 'a'
nvl2(s, 1, 0) = 1
s not in ('a', 'b')
not (i > 5 and s = 'x')
i = l or (i is null and l is null)
positive(i) > 0
i div 100 = 3
pow(i, 2) > 100
sqrt(f) < 3
ln(f) > 0
ceil(f / 10) * 10 = 50
position('ab' in s) > 0
locate('ab', s) = 1
substring_index(s, '.', 1) = 'a'
translate(s, 'abc', 'xyz') = 'x'
t > current_timestamp() - interval '1' day
t > date_sub(current_date(), 7)
t >= to_timestamp(current_date())
t >= cast(current_date() - interval 1 day as timestamp)
t > dateadd(DAY, -7, current_date())
d >= current_date() - interval 1 month
d > add_months(current_date(), -3)
d >= trunc(current_date(), 'MM')
d >= date_trunc('month', current_date())
d >= last_day(add_months(current_date(), -1))
s >= date_format(current_date() - interval 7 days, 'yyyyMMdd')
s >= cast(date_sub(current_date(), 7) as string)
s >= from_unixtime(unix_timestamp() - 86400, 'yyyy-MM-dd')
l > unix_timestamp() - 86400
current_date() - d < interval 7 days
d + interval 1 month > current_date()
year(d) = year(current_date()) and month(d) = month(current_date())
date(t) = current_date()
"""
#: Of Spark alone.
OF_SPARK = r"""
cast(l as timestamp) > '2024-01-01'
cast(l / 1000 as timestamp) > '2024-01-01'
timestamp_seconds(l / 1000) > '2024-01-01'
from_unixtime(l / 1000) > '2024-01-01'
date(cast(l as timestamp)) = '2024-01-01'
dateadd(DAY, 5, d) > current_date()
date_diff(DAY, t, u) = 5
timestampdiff(HOUR, t, '2024-01-01 10:00:00') < 5
timestampdiff(HOUR, t, u) > 5
t > now() - interval 1 day
to_date(ds, 'yyyy-MM-dd') = date '2024-01-01'
to_date(ds) > '2024-01-01'
concat(y, '-', m) = '2024-5'
make_date(y, m, 1) >= date '2024-05-01'
unix_timestamp(t) > 1700000000
unix_timestamp() - unix_timestamp(t) < 3600
from_unixtime(l) > '2024-01-01'
from_unixtime(l, 'yyyy-MM-dd') = '2024-01-01'
to_timestamp(l) > '2024-01-01'
timestamp_millis(l) > '2024-01-01'
to_date(from_unixtime(l)) = '2024-01-01'
right(s, 2) = 'ab'
to_unix_timestamp(t) between 1 and 1700000000
to_timestamp(ds, 'yyyy-MM-dd') > '2024-01-01'
timestampadd(HOUR, 5, t) > now()
from_utc_timestamp(t, 'Asia/Kolkata') > '2024-01-01'
try_cast(s as int) > 5
unix_date(d) > 19000
d > '2024'
t > '2024'
int(date_format(current_date() - 7, 'yyyyMMdd')) <= i
current_date() between d and date_add(d, 30)
now() between t and u
'2024-01-15' between d and d + 30
5 between i and l
try_divide(i, 2) > 5
unix_seconds(t) > 1700000000
date_from_unix_date(i) > '2024-01-01'
try_to_timestamp(ds) > '2024-01-01'
to_date(cast(i as string), 'yyyyMMdd') > '2024-01-01'
to_date(string(i), 'yyyyMMdd') between '2024-01-01' and '2024-02-01'
t > now() - interval 7 days
t > now() - interval 24 hours
t > now() - interval 36 hours
t > now() - interval 90 minutes
t > now() - interval 1 week
t > now() - interval 1 month
t > now() - interval 1 year
t > add_months(current_date(), -1)
t >= date_trunc('day', now())
t >= date_trunc('day', now() - interval 1 day)
t >= date_trunc('month', now())
t >= date_trunc('hour', now()) - interval 1 hour
t >= timestampadd(DAY, -7, now())
d >= current_date() - 7
d >= cast(now() - interval 7 days as date)
d >= date(now() - interval 1 day)
d >= to_date(now() - interval 1 month)
s >= date_format(now() - interval 1 day, 'yyyy-MM-dd')
l > unix_timestamp(now() - interval 1 day)
l > unix_millis(now() - interval 1 day)
l > unix_micros(current_timestamp()) - 1000000
i >= cast(date_format(now() - interval 1 day, 'yyyyMMdd') as int)
n > now() - interval 1 day
n > localtimestamp() - interval 1 day
n > localtimestamp() - interval 1 month
now() - t < interval 1 day
datediff(now(), t) < 7
t + interval 1 day > now()
t + interval 1 month > now()
timestampdiff(DAY, t, now()) < 7
months_between(now(), t) < 1
unix_timestamp() - unix_timestamp(t) < 86400
to_unix_timestamp(t) > unix_timestamp() - 3600
from_utc_timestamp(t, 'Europe/Berlin') > now() - interval 1 day
t > now() - make_interval(0, 0, 0, 1)
t > now() - make_dt_interval(1)
year(t) = year(now())
t between now() - interval 2 days and now()
t < now() - interval 30 days
date(t) >= current_date() - 1
"""


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "hive4"])
def test_usual_filters_are_decided(engine: str, zone: str) -> None:
    semantics = Semantics.named(engine, zone).at(Clock.from_now_on(zone_known=True))
    undecided = {}
    for text in filter(None, (CONDITIONS if engine == "hive4" else CONDITIONS + OF_SPARK).splitlines()):
        bound = bind(parse(text, engine), SCHEMA, semantics)  # type: ignore[arg-type]
        reasons = [leaf.reason for leaf in bound.leaves if leaf.reason]
        if reasons:
            undecided[text] = reasons
    assert not undecided
