"""The predicates: forms x columns x constants, and by hand what the grid does not reach.

They are written once, in SQL that Hive and Spark parse. What Hive makes of each stands in ``hive_filters.json.xz``,
what the rows of each table say in the ``*.json.xz`` beside the tables.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Column -> three constants in growing order, of which at least one occurs.
CONSTANTS = {
    "ti": ("-60", "4", "126"),
    "si": ("-300", "100", "32767"),
    "i": ("-250", "100", "2147483647"),
    "l": ("-300000000000", "200000000000", "9223372036854775807"),
    "f": ("0.0", "5.0", "12.5"),
    "d": ("-50.0", "8.0", "1000.0"),
    "price": ("-33.33", "10.50", "99999999.99"),
    "big": ("-37037036703703703670.370368", "0.000000", "123456789012345678901.234560"),
    "s": ("''", "'banana-010'", "'m'"),
    "note": ("'a'", "'n010'", "'n079'"),
    "dt": ("date '0001-01-03'", "date '2020-01-14'", "date '2021-02-02'"),
    "t": ("timestamp '0001-01-03 00:00:00'", "timestamp '2020-01-03 22:00:01.23457'",
          "timestamp '2020-01-20 00:00:00'"),
    "b": ("false", "true", "true"),
    "bin": ("cast('b000' as binary)", "cast('b010' as binary)", "cast('b0101' as binary)"),
    "st.x": ("3", "31", "60"),
    "st.y": ("'y003'", "'y031'", "'y1'"),
    "an": ("3", "31", "60"),
    "u": ("3", "31", "190"),
    "w": ("7000", "31000", "3000000001"),
    "extra": ("3", "31", "60"),
    "p": ("'a b'", "'plain'", "'x=1/y'"),
    "id": ("'k003'", "'k031'", "'k0310'"),
}
FORMS = ("{c} = {1}", "{c} <> {1}", "{c} < {1}", "{c} <= {0}", "{c} > {1}", "{c} >= {2}", "{c} <=> {0}",
         "{c} in ({0}, {1})", "{c} not in ({1}, {2})", "{c} between {0} and {1}", "not ({c} between {1} and {2})",
         "{c} is null", "{c} is not null")

NAN = "cast('NaN' as double)"

#: What it is about -> conditions. P1 to P20 are the pitfalls of data skipping that people reported; "H" is a wrong
#: result of Hudi's own data skipping, by the number of its issue or a name.
BY_HAND: dict[str, tuple[str, ...]] = {
    "P1 H18754 a NaN makes bounds zero": (
        "f > 6", "f >= 5.0 and f <= 5.0", "f between 4 and 8", "d <> 0.0", "d >= 8", "d < -40 or d > 40", "not (f > 6)",
        "not (d <= 8.0)", "f = f", "d <> d", "f > d", "i > 100 and f > 6"),
    "P2 H18755 long texts have no bounds": (
        "note <> 'b'", "note >= 'm'", "note like 'aaaa%'", "length(note) > 2000", "note is not null and i > 0",
        "note = repeat('c', 4502)", "note in ('n001', repeat('d', 4503))", "note > 'h'", "note is null or i < -200",
        "not (note is null)", "substr(note, 1, 1) = 'b'"),
    "P3 NaN as a constant and in lists": (
        f"f = {NAN}", f"d = {NAN}", f"d <> {NAN}", f"d < {NAN}", f"d >= {NAN}", f"d <=> {NAN}",
        f"d in (8.0, {NAN})", f"d not in (8.0, {NAN})", f"d between 0 and {NAN}", f"not (d < {NAN})",
        "f > cast('Infinity' as float)", "d = cast('Infinity' as double)", "d <= cast('-Infinity' as double)"),
    "P4 not equal": (
        "p <> 'plain'", "p != 'nowhere'", "b <> true", "not (i = 100)", "st.x <> 31 and st.x <> 32", "ts <> 1",
        "ts <> 2", "not (ts = 1 and i > 0)", "dt <> date '2020-02-15'"),
    "P5 H18791 prefixes": (
        "s like 'apple%'", "s like 'b%'", "s like 'Ch%'", "s like 'apple-003'", "s like 'a_b'", "s like 'a\\\\_b'",
        "s like 'a\\\\%b'", "s like 'a%b'", "s like '%-012'", "s like 'a%-0%'", "s like '%'", "s like ''",
        "s like '_pple%'", "s not like 'apple%'", "not (s like 'b%')", "upper(s) like 'CH%'", "lower(s) like 'c%'",
        "lower(s) like 'cherry%'", "i < 0 and s like 'a%'", "s like '日%'", "s like '𝄞%'", "s like 'ä%'",
        "s like 'Ä%'", "s rlike '^g'", "s rlike 'an+a'", "s like concat('ban', '%')", "id like 'k01%'",
        "startswith(s, 'dat')", "note like 'n01%'", "s like 'zz%'", "s like 'trail%' and s like '% '"),
    "P6 H19645 a column that older files lack": (
        "extra is null and i < 0", "extra is null or i > 100", "extra is null and s is null", "extra <=> null",
        "extra is not null and an is null", "coalesce(extra, -1) = -1", "not (extra > 30)", "extra > 0 or an > 0",
        "extra <=> an", "nvl(extra, 0) < 5", "an is null and extra is null"),
    "P7 columns without statistics beside others": (
        "u > 50 and i > 0", "u = 10 or i = -200", "u > 190 and p = 'plain'", "u is null", "u in (5, 6) and s like 'a%'",
        "i > 5000 or u < 3", "not (u > 10 or i > -200)", "u + i > 400", "u < 10 and extra is null"),
    "P8 is not null": (
        "s is not null and i is not null", "an is not null and extra is not null", "not (an is null)",
        "i is not null and i < 0", "l is not null or s = ''", "st is not null", "st is null",
        "bin is null or b is null"),
    "P9 H19445 casts and functions that break the order": (
        "cast(i as tinyint) = 4", "cast(l as int) > 2000000000", "cast(si as tinyint) < -100", "i * -1 > 250",
        "i / -10 > 25", "price * -1 > 30", "l * -1 < -200000000000", "-i > 250", "5 - i > 200", "abs(i) < 60",
        "i + 2147483000 > 0", "i - 2147483000 < -2147483000", "i % 7 = 3", "i * 2 = 200", "i + 1 = 101",
        "cast(i as bigint) * 1000000000 > 300000000000", "i | 2 = 102", "si & 7 = 4", "i / 3 > 100.5",
        "cast(d as int) = 5", "cast(f as int) < -10", "floor(d) = 8", "ceil(d) = 8", "round(d, 1) = 7.5", "sqrt(d) > 5",
        "cast(price as int) = 10", "cast(i as double) > 299.5", "cast(i as float) = 100", "cast(i as string) = '100'",
        "cast(i as string) < '2'", "cast(i as boolean)", "cast(dt as string) like '2020-01%'",
        "cast(t as date) = date '2020-01-05'", "cast(s as int) = 10", "cast(d as decimal(10,2)) = 8.75",
        "cast(price as decimal(5,1)) = 10.5", "cast(price as decimal(4,1)) > 9.9", "cast(b as int) = 1",
        "cast(ti as bigint) > 60", "cast(l as smallint) = 0"),
    "H date_format is not monotone": (
        "date_format(dt, 'MM/dd/yyyy') < '01/10/2020'", "date_format(dt, 'dd') = '04'", "date_format(t, 'HH') = '07'",
        "date_format(dt, 'yyyy-MM') = '2020-03'", "date_format(dt, 'yyyy') > '2020'",
        "date_format(t, 'yyyy-MM-dd HH') < '2020-01-03 10'"),
    "H datediff of a constant and a column": (
        "datediff(date '2020-01-01', dt) < -100", "datediff(dt, date '2020-01-01') > 100",
        "datediff(dt, date '2020-01-01') = 13", "datediff(date '2020-01-01', dt) between 0 and 20"),
    "H stale statistics of partitions": ("u > 190", "u > 180", "u between 185 and 230", "u > 190 or u < 2"),
    "H index of another function of the column": (
        "month(dt) = 1", "day(dt) = 14", "quarter(dt) = 1", "year(dt) = 2020", "year(dt) > 2020", "year(dt) <> 2020",
        "upper(id) = 'K003'", "lower(id) = 'k003'", "dayofmonth(dt) > 27", "weekofyear(dt) = 3",
        "year(dt) = 2020 and month(dt) = 2", "from_unixtime(ts) > '1970'"),
    "H letter case is not monotone": (
        "lower(s) > 'd'", "lower(s) = 'zebra'", "upper(s) = 'CHERRY-018'", "lower(s) < 'b'", "upper(s) >= 'ZE'",
        "lower(s) = s", "upper(p) = 'PLAIN'", "initcap(s) = 'Apple-001'"),
    "H binary": (
        "bin > cast('b05' as binary)", "bin <> cast('b001' as binary)",
        "bin in (cast('b001' as binary), cast('b0' as binary))", "length(bin) = 4"),
    "P10 constants that do not fit the column": (
        "ti < 300", "ti > -129", "ti = 128", "ti <= 127", "ti >= 127.5", "ti in (4, 300)", "ti not in (4, 300)",
        "si < 40000", "si = 100000", "i < 5000000000", "i = 5000000000", "i <> 5000000000", "i < 5.5", "i = 10.5",
        "i <> 10.5", "i <= 99.9", "i > -250.5", "i between 99.5 and 120.5", "i >= 1e2", "i < 1e40", "l = 1e10",
        "l > 9223372036854775807", "l >= 9223372036854775808", "l < 1.5e10", "f = 0.1", "f < 5.25", "f > 1e39",
        "d = 1.25", "d > 1e308", "price = 10.505", "price < 10.505", "price <= 10.499", "price > 1000000000",
        "price <> 10.505", "dt < timestamp '2020-01-10 12:00:00'", "dt = timestamp '2020-01-14 00:00:00'",
        "dt >= timestamp '2020-01-14 00:00:01'", "t >= date '2020-01-05'", "t = date '1970-01-01'",
        "i between 200 and 100", "w > 3000000000", "w = 2147483648", "u < 0.5"),
    "P11 text against numbers and dates": (
        "s = 10", "s > 9", "s < 10", "s <> 10", "s in (9, 10)", "s in ('9', '10')", "s between 9 and 10", "s > '9'",
        "s between '10' and '9'", "i = '100'", "i = '100.0'", "i > 'abc'", "i < '99'", "i in ('100', '110')",
        "l = '200000000000'", "d = '8.75'", "price = '10.50'", "price < '9'", "dt = '2020-01-14'", "dt > '2020-1-14'",
        "dt < 'nonsense'", "t = '2020-01-14'", "t >= '2020-01-05 10:00:00'", "dt in ('2020-01-14', '2020-01-19')",
        "b = 'true'", "id > 5", "p = 5", "dt between '2020-01-01' and '2020-02-01'", "s = 1e1"),
    "P12 decimals": (
        "price = 10.5", "price = 10.50000", "price = 1.05e1", "big > 1e30", "big < -1e30", "price < big", "price = i",
        "price > si", "big = 99999999999999999999999999999999.999999",
        "big <= -99999999999999999999999999999999.999999", "price + 1 > 40", "price * 2 = 21.00", "big > i",
        "price >= cast(10.5 as double)", "price in (10.5, -33.330, 7)", "big in (0, 1)", "abs(price) < 5",
        "price between -1 and 1.111", "big / 2 > 0", "cast(big as double) > 1e20"),
    "P13 fractions of seconds": (
        "t = timestamp '1969-12-31 23:59:59.999999'", "t <= timestamp '1969-12-31 23:59:59.9995'",
        "t > timestamp '1969-12-31 23:59:59.999'", "t < timestamp '1970-01-01 00:00:00'",
        "t = timestamp '2020-01-03 22:00:01.234570'", "t <= timestamp '2020-01-03 22:00:01.234'",
        "t > timestamp '2020-01-03 22:00:01.2345'", "t = timestamp '2020-01-03 22:00:01'",
        "t = timestamp '9999-12-31 23:59:59.999999'", "t >= timestamp '9999-12-31 23:59:59.999999999'"),
    "P14 zones, days and ancient dates": (
        "dt < date '1582-10-10'", "dt = date '1582-10-04'", "dt = date '1582-10-15'", "dt <= date '1582-10-14'",
        "dt < date '0001-01-02'", "dt > date '9999-01-01'", "t < timestamp '1582-10-10 00:00:00'",
        "t = timestamp '1582-10-04 12:00:00'", "year(t) = 1", "year(dt) < 1600", "to_date(t) = date '2020-01-05'",
        "to_date(t) < date '2020-01-05'", "hour(t) = 7", "minute(t) = 0 and hour(t) < 3", "unix_timestamp(t) < 0",
        "unix_timestamp(t) = 0", "last_day(dt) = '2020-02-29'", "trunc(dt, 'MM') = '2020-02-01'",
        "date_add(dt, 3) = date '2020-01-17'", "date_sub(dt, 20) < date '2020-01-01'",
        "add_months(dt, 1) > '2021-01-01'",
        "t between timestamp '2020-03-29 01:00:00' and timestamp '2020-03-29 02:00:00'",
        "from_utc_timestamp(t, 'Europe/Berlin') = timestamp '2020-03-29 03:30:00'",
        "to_utc_timestamp(t, 'Europe/Berlin') < timestamp '2020-01-01 05:00:00'",
        "tn = timestamp_ntz '2020-01-03 22:30:01.23457'", "tn < timestamp_ntz '2020-01-05 00:00:00'", "tn is null",
        "tn > t", "date_trunc('month', t) = timestamp '2020-01-01 00:00:00'", "dt = date '2020-02-15'",
        "dt in (date '2020-01-15', date '2020-03-15')", "dt is null or p = 'plain'"),
    "P15 blanks at the ends": (
        "s = 'trail'", "s = 'trail '", "s = ' lead'", "trim(s) = 'lead'", "rtrim(s) = 'trail'", "ltrim(s) < 'm'",
        "cast(s as char(8)) = 'trail'", "cast(s as varchar(5)) = 'apple'", "s < ' '", "s <= ' lead'",
        "s in ('trail', 'apple-001')", "id = 'k003 '"),
    "P16 zeros and keys in filters": (
        "f = 0.0", "f = -0.0", "d = 0.0", "d = -0.0", "f in (0.0, 99.0)", "d in (-0.0, 99.0)", "f < 0.0", "f < -0.0",
        "d > -0.0", "d >= 0.0 and d <= 0.0", "f <> 0.0", "f not in (0.0)", "w = 12000", "w in (12000, 31000)",
        "w in (3000000001, 3000000009)", "id = 'k010'", "id = 'nope'", "id in ('k010', 'k033', 'nope')",
        "id = 'k010' or id = 'k011'", "id = 'k010' and i > 100", "id <> 'k010'", "id > 'k05'", "id = 'k010' or i = 100",
        "`_hoodie_record_key` = 'k033'", "`_hoodie_record_key` in ('k001', 'k002')", "s = 'upd$ated\\\\x'",
        "s = 'ZEBRA'", "s in ('ZEBRA', 'elder-033')", "s = 'nope'", "not (id = 'k010')"),
    "P17 order of bytes": (
        "s >= 'äpfel'", "s < '日本'", "s > 'z'", "s >= '𝄞'", "s < '\uffee'", "s between 'z' and '日'", "p > 'z'",
        "p >= 'ü'", "bin >= cast('é' as binary)", "s = '日本-069'", "s in ('äpfel-056', '𝄞zebra-072')"),
    "P18 NULL in lists and under NOT": (
        "i not in (100, null)", "i in (100, null)", "not (i in (100, null))", "s not in ('', null)", "i = null",
        "i <> null", "not (i > 100)", "not (i > 100 and s like 'a%')", "not (i > 100 or s is null)", "i <=> null",
        "not (i <=> null)", "not (i <=> 100)", "(i > 100) is null", "(i > 100) is not true", "null or i = 100",
        "null and i = 100", "coalesce(i > 100, true)", "i between null and 100", "not (i between 0 and null)"),
    "P19 nested fields and types that grew": (
        "st.x = 31 and st.y = 'y031'", "st.x is null and st is not null", "not (st.x = 3)", "st.x is null or i > 0",
        "st.y like 'y03%'", "w > 2147483647", "w between 9000 and 3000000005", "w % 2 = 1", "w / 1000 = 31",
        "cast(w as int) = 31000", "st.x > an", "st.x + 1 = 32"),
    "P20 names and letter case": (
        "I = 100", "ST.X = 31", "Id = 'k010'", "s = 'APPLE-003'", "P = 'plain'", "p = 'PLAIN'", "`i` = 100",
        "`_hoodie_commit_time` > '0'", "`_hoodie_partition_path` = ''", "`_hoodie_file_name` is not null"),
    "partition values": (
        "p = 'ü%é'", "p = 'x%3D1%2Fy'", "p like 'x=%'", "p like '%/y'", "p in ('a b', 'ü%é')",
        "p not in ('a b', 'ü%é')",
        "p > 'b' and p < 'v'", "p is null or i = 100", "concat(p, s) = 'plainCherry-024'", "length(p) = 3",
        "p = 'plain' and i > 0", "p = 'plain' or i > 300", "not (p = 'plain' or p = 'a b')", "substr(p, 1, 1) = 'x'",
        "p = s", "case when p = 'plain' then i > 0 else s like 'b%' end"),
    "boolean columns": (
        "b", "not b", "b is true", "b is not true", "b is false", "b and i > 0", "b or i is null", "b = (i > 0)",
        "not (b and s is null)", "b is null and an > 40"),
    "conditionals": (
        "if(i > 0, i, -i) > 290", "case when i > 0 then s = 'm' when i < 0 then b else true end",
        "coalesce(i, 100) = 100", "nvl(s, 'x') = 'x'", "greatest(i, si) > 300", "least(i, 0) < -250",
        "nullif(i, 100) is null", "case i when 100 then true when 110 then true else false end",
        "coalesce(s, note) like 'n%'", "if(b, i, u) = 31"),
    "text functions": (
        "concat(s, 'x') = 'apple-003x'", "substr(s, 1, 3) = 'ban'", "substr(s, -3) = '012'", "length(s) > 10",
        "length(s) = 0", "instr(s, 'an') = 2", "reverse(s) like '2%'", "s || '!' > 'grape'",
        "replace(s, '-', '') = 'apple003'",
        "locate('rr', s) > 0", "lpad(s, 3, '0') = 'dat'", "regexp_replace(s, '[0-9]', '') = 'Fig-'",
        "split(s, '-')[0] = 'date'", "ascii(s) = 67", "hex(s) = '3130'"),
    "columns against columns": (
        "i = si", "i > l", "price > i", "s < note", "id = s", "ti = si", "f = d", "d < f", "dt > cast(t as date)",
        "st.x = an", "i + si > u", "si - i = 0", "u = w / 1000"),
    "what is never so, or always": (
        "1 = 0", "true", "false", "i = i", "i <> i", "i > 0 or i <= 0", "i > 0 and i < 0",
        "s is null and s = 'a'",
        "1 = 1 and i = 100", "2 > 1 or i = 100", "not (1 = 0 or i > 100)"),
    "moments and chance": (
        "dt < current_date()", "t < current_timestamp()", "rand() < 2.0", "rand() < 2.0 and i = 100",
        "dt > date_sub(current_date(), 100000)", "i = 100 or rand() > 3.0"),
    "long conditions": (
        "i in (" + ", ".join(str(7 * n - 300) for n in range(150)) + ")",
        "s in (" + ", ".join(f"'banana-{n:03d}'" for n in range(60)) + ")",
        " or ".join(f"i = {10 * n}" for n in range(-30, 0)),
        " and ".join(f"i <> {10 * n}" for n in range(-25, 20)),
        "(" * 30 + "i = 100" + ")" * 30,
        "not (" * 20 + "i > 100" + ")" * 20,
        " or ".join(f"(i between {40 * n} and {40 * n + 9} and s like '{letter}%')"
                    for n, letter in enumerate("abcdefg"))),
    "several conditions": (
        "i > 0 and l < 0", "i > 0 and s > 'f' and dt < date '2020-09-01'", "i = 100 and s = 'nope'",
        "(i < -250 or i > 400) and (dt < date '2019-08-01' or b)", "not (i < -250 or (s = 'x' and not b))",
        "p = 'a b' and an > 30 and dt > date '2020-05-01'", "i > 0 and not (i > 100)",
        "(b or i > 200) and not (p > 'b')",
        "d > 0 and f > 0 and i > 0", "st.x = 31 or id = 'k040' or t < timestamp '1600-01-01 00:00:00'"),
}


@dataclass(frozen=True)
class Case:
    sql: str
    about: str


def grid() -> list[Case]:
    return [Case(form.format(*constants, c=column), "grid") for column, constants in CONSTANTS.items()
            for form in FORMS]


def cases() -> list[Case]:
    """All of them, each text once."""
    by_hand = [Case(sql, about) for about, texts in BY_HAND.items() for sql in texts]
    return list({case.sql: case for case in (*grid(), *by_hand)}.values())


CASES = cases()
