"""Conditions whose Catalyst trees are kept as test data, as Spark 3.5 and 4.1 write them (``record_catalyst.py``).

Spark 3.5.5 and 4.1.4, ANSI on and off, session zone America/New_York.
"""

from __future__ import annotations

SCHEMA = ("id string, ti tinyint, si smallint, i int, l bigint, f float, d double, dec decimal(10,2), s string, "
          "bin binary, b boolean, dt date, t timestamp, tn timestamp_ntz, st struct<x:int,y:struct<z:string>>, "
          "ar array<int>, m map<string,int>")
ZONE = "America/New_York"

#: condition -> what it is taken for, in the words of ``evaluator.expression.to_text``
MEANINGS = {
    # comparisons, with the casts that the analyser puts in
    "i < 5": "i < 5",
    "5 > i": "5 > i",
    "i != 5": "i != 5",
    "i <> 5": "i != 5",
    "NOT i = 5": "i != 5",
    "i <=> 5": "i <=> 5",
    "i <=> NULL": "i <=> NULL",
    "i = NULL": "i = NULL",
    "i < 5.5": "CAST(i AS bigint) < 6",
    "l = 5": "l = 5",
    "ti = 300": "CAST(ti AS int) = 300",
    "d > 0.1": "d > 0.1",
    "f = 1.5": "CAST(f AS double) = 1.5",
    "dec > 5": "dec > 5.00",
    "dec = 5.125": "CAST(dec AS decimal(11,3)) = 5.125",
    "dec = 1E+2BD": "dec = 100.00",
    "l > 3000000000": "l > 3000000000",
    "i = l": "CAST(i AS bigint) = l",
    "f < d": "CAST(f AS double) < d",
    "s = 'x'": "s = 'x'",
    "s = 5": "CAST(s AS int) = 5",
    "i = '5'": "i = '5'",
    "i = '5.0'": "i = '5.0'",
    "b = 'true'": "b = True",
    "dt = '2020-01-01'": "dt = DATE '2020-01-01'",
    "dt = '2020-1-1'": "dt = '2020-1-1'",
    "dt = 'today'": "dt = 'today'",
    "t = '2020-01-01'": "t = TIMESTAMP '2020-01-01 00:00:00'",
    "t > '2020-1-1 10:00:00'": "t > '2020-1-1 10:00:00'",
    "t > TIMESTAMP'2020-11-01 00:30:00'": "t > TIMESTAMP '2020-11-01 00:30:00'",
    "t > TIMESTAMP'2020-11-01 01:30:00'": "t > TIMESTAMP '2020-11-01 05:30:00Z'",
    "t > TIMESTAMP'2020-11-01 05:30:00Z'": "t > TIMESTAMP '2020-11-01 05:30:00Z'",
    "t > DATE'2020-01-01'": "t > TIMESTAMP '2020-01-01 00:00:00'",
    "t > dt": "t > CAST(dt AS timestamp with local time zone)",
    "dt > TIMESTAMP'2020-01-01 10:00:00'":
        "CAST(dt AS timestamp with local time zone) > TIMESTAMP '2020-01-01 10:00:00'",
    "tn = TIMESTAMP_NTZ'2020-01-01 00:00:00.123456'": "tn = TIMESTAMP '2020-01-01 00:00:00.123456'",
    "tn > t": "CAST(tn AS timestamp with local time zone) > t",
    "dt > DATE'2020-02-29'": "dt > DATE '2020-02-29'",
    "dt > DATE'-0001-01-01'": "dt > ?(a constant of type date is not decided)",
    "bin = X'00FF61'": "bin = X'00FF61'",
    "d = double('NaN')": "d = CAST('NaN' AS double)",
    "d > 1e-3": "d > 0.001",
    "f < float('Infinity')": "f < CAST('Infinity' AS float)",
    "i IS DISTINCT FROM 3": "NOT i <=> 3",
    "st.x > 3": "st.x > 3",
    "st.y.z = 'q'": "st.y.z = 'q'",
    "st IS NULL": "st IS NULL",
    # boolean values and conditions as values
    "b": "b = True",
    "NOT b": "NOT b = True",
    "b = TRUE": "b = True",
    "b != FALSE": "b != False",
    "b IS TRUE": "b <=> True",
    "b IS NOT FALSE": "NOT b <=> False",
    "(i > 3) IS TRUE": "(i > 3 AND if(i > 3, True, False) = True)",
    "(i > 3) IS NOT TRUE": "NOT (i > 3 AND if(i > 3, True, False) = True)",
    "(i > 3) = FALSE": "NOT i > 3",
    "(i > 3) = b": "if(i > 3, True, if(NOT i > 3, False, NULL)) = b",
    "(i > 3) IS NULL": "if(i > 3, True, if(NOT i > 3, False, NULL)) IS NULL",
    "coalesce(b, FALSE)": "coalesce(b, False) = True",
    "if(b, i > 3, l > 3)":
        "if(b = True, if(i > 3, True, if(NOT i > 3, False, NULL)), if(l > 3, True, if(NOT l > 3, False, NULL)"
        ")) = True",
    "TRUE": "TRUE",
    "i > 3 AND (l > 4 AND d > 5) OR NOT (s = 'a' OR s = 'b')":
        "((i > 3 AND l > 4 AND d > 5.0) OR NOT (s = 'a' OR s = 'b'))",
    # lists and ranges
    "i IN (1, 2, NULL)": "i IN (1, 2, NULL)",
    "i NOT IN (1, 2)": "NOT i IN (1, 2)",
    "i IN (1, 2.5)": "CAST(i AS decimal(11,1)) IN (1.0, 2.5)",
    "s IN ('a', 'b')": "s IN ('a', 'b')",
    "dt IN ('2020-01-01', '2020-01-02')": "CAST(dt AS string) IN ('2020-01-01', '2020-01-02')",
    "bin IN (X'00', X'FF')": "bin IN (X'00', X'FF')",
    "t IN (TIMESTAMP'2020-01-01 00:00:00', TIMESTAMP'2020-07-01 00:00:00')":
        "t IN (TIMESTAMP '2020-01-01 00:00:00', TIMESTAMP '2020-07-01 00:00:00')",
    "i BETWEEN 1 AND 3": "(i >= 1 AND i <= 3)",
    "i NOT BETWEEN 1 AND 3": "NOT (i >= 1 AND i <= 3)",
    "i BETWEEN 1 AND 3 AND l BETWEEN 4 AND 5": "(i >= 1 AND i <= 3 AND l >= 4 AND l <= 5)",
    "t BETWEEN '2020-01-01' AND '2020-02-01 10:00:00'":
        "(t >= TIMESTAMP '2020-01-01 00:00:00' AND t <= TIMESTAMP '2020-02-01 10:00:00')",
    "(i BETWEEN 1 AND 5) BETWEEN FALSE AND TRUE":
        "(if((i >= 1 AND i <= 5), True, if(NOT (i >= 1 AND i <= 5), False, NULL)) >= False AND if((i >= 1 AND"
        " i <= 5), True, if(NOT (i >= 1 AND i <= 5), False, NULL)) <= True)",
    "i BETWEEN nullif(l, 3) AND nullif(l, 9)":
        "(CAST(i AS bigint) >= if(l = 3, NULL, l) AND CAST(i AS bigint) <= if(l = 9, NULL, l))",
    # text
    "s LIKE 'a%'": "s LIKE 'a%'",
    "s LIKE 'a/%%' ESCAPE '/'": "s LIKE 'a/%%'",
    "s NOT LIKE 'a_'": "NOT s LIKE 'a_'",
    "s LIKE ANY ('a%', 'b%')": "(s LIKE 'a%' OR s LIKE 'b%')",
    "s NOT LIKE ANY ('a%', NULL)": "(NOT s LIKE 'a%' OR NOT NULL)",
    "s LIKE ALL ('a%', '%b')": "(s LIKE 'a%' AND s LIKE '%b')",
    "s NOT LIKE ALL ('a%', '%b')": "(NOT s LIKE 'a%' AND NOT s LIKE '%b')",
    "startswith(s, '50%')": "s LIKE '50\\%%'",
    "endswith(s, 'a')": "s LIKE '%a'",
    "contains(s, '_')": "s LIKE '%\\_%'",
    "startswith(s, NULL)": "NULL",
    "startswith(s, id)": "?(a pattern that is not a constant is not decided)",
    "s RLIKE '^ab'": "s LIKE 'ab%'",
    "s RLIKE 'ab'": "?(a regular expression without a fixed start is not decided)",
    "s ILIKE 'a%'": "?(ILike is not decided)",
    "s LIKE id": "?(a pattern that is not a constant is not decided)",
    "upper(s) = 'A'": "upper(s) = 'A'",
    "lower(s) > 'a'": "lower(s) > 'a'",
    "length(s) = 3": "length(s) = 3",
    "trim(s) = 'a'": "trim(s) = 'a'",
    "left(s, 2) = 'ab'": "left(s, 2) = 'ab'",
    "substring(s, 1, 2) = 'ab'": "substring(s, 1, 2) = 'ab'",
    "s || 'x' = 'ax'": "concat(s, 'x') = 'ax'",
    "right(s, 2) = 'ab'": "?(Right is not decided) = 'ab'",
    # casts and arithmetic
    "CAST(d AS INT) = 3": "CAST(d AS int) = 3",
    "TRY_CAST(s AS INT) = 3": "CAST(s AS int) = 3",
    "CAST(i AS STRING) = '3'": "CAST(i AS string) = '3'",
    "CAST(t AS DATE) = DATE'2020-01-01'": "CAST(t AS date) = DATE '2020-01-01'",
    "CAST(dt AS TIMESTAMP) = t": "CAST(dt AS timestamp with local time zone) = t",
    "i + 1 = 3": "(i + 1) = 3",
    "3 - i = 1": "(3 - i) = 1",
    "i * 2 > 7": "(i * 2) > 7",
    "i / 2 = 1": "(CAST(i AS double) / 2.0) = 1.0",
    "i % 2 = 1": "(i % 2) = 1",
    "pmod(i, 2) = 1": "pmod(i, 2) = 1",
    "i DIV 2 = 1": "div(CAST(i AS bigint), 2) = 1",
    "-i = 3": "negative(i) = 3",
    "abs(i) = 3": "abs(i) = 3",
    "try_add(i, 1) = 3": "(i + 1) = 3",
    "dec * 2 = 3": "(dec * 2) = 3.00",
    "round(d, 1) = 1.5": "round(d, 1) = 1.5",
    "floor(d) = 1": "floor(d) = 1",
    "ceil(d, 1) = 1": "?(RoundCeil is not decided) = 1.0",
    "sqrt(d) > 2": "sqrt(d) > 2.0",
    "isnan(d)": "isnan(d) = True",
    "greatest(i, 3) = 3": "greatest(i, 3) = 3",
    # dates and timestamps
    "year(dt) = 2020": "year(dt) = 2020",
    "year(t) = 2020": "year(t) = 2020",
    "month(t) IN (1, 2)": "month(t) IN (1, 2)",
    "EXTRACT(YEAR FROM t) = 2020": "year(t) = 2020",
    "hour(t) = 3": "hour(t) = 3",
    "second(t) = 3": "second(t) = 3",
    "to_date(s) = DATE'2020-01-01'": "to_date(s) = DATE '2020-01-01'",
    "to_date(t) = DATE'2020-01-01'": "to_date(t) = DATE '2020-01-01'",
    "to_date(s, 'dd-MM-yyyy') = DATE'2020-01-01'": "to_date(s, 'dd-MM-yyyy') = DATE '2020-01-01'",
    "to_timestamp(s) > t": "to_timestamp(s) > t",
    "date_add(dt, 3) > DATE'2020-01-01'": "date_add(dt, 3) > DATE '2020-01-01'",
    "date_sub(dt, 3) > DATE'2020-01-01'": "date_sub(dt, 3) > DATE '2020-01-01'",
    "dt + 3 > DATE'2020-01-01'": "date_add(dt, 3) > DATE '2020-01-01'",
    "datediff(dt, DATE'2020-01-01') > 3": "datediff(dt, DATE '2020-01-01') > 3",
    "add_months(dt, 1) > DATE'2020-01-01'": "add_months(dt, 1) > DATE '2020-01-01'",
    "last_day(dt) = DATE'2020-01-31'": "last_day(dt) = DATE '2020-01-31'",
    "trunc(dt, 'MM') = DATE'2020-01-01'": "trunc(dt, 'MM') = DATE '2020-01-01'",
    "date_trunc('month', t) = TIMESTAMP'2020-01-01 00:00:00'":
        "date_trunc('month', t) = TIMESTAMP '2020-01-01 00:00:00'",
    "date_format(t, 'yyyy-MM') = '2020-01'": "date_format(t, 'yyyy-MM') = '2020-01'",
    "unix_timestamp(t) > 1500000000": "unix_timestamp(t) > 1500000000",
    "unix_timestamp(s) > 1500000000": "unix_timestamp(s, 'yyyy-MM-dd HH:mm:ss') > 1500000000",
    "t + INTERVAL 1 DAY > t": "CAST(?(TimestampAddInterval is not decided) AS timestamp with local time zone) > t",
    "dt - DATE'2020-01-01' > INTERVAL 3 DAYS":
        "?(SubtractDates is not decided) > ?(a constant of type interval day is not decided)",
    # conditionals
    "coalesce(i, 3) = 2": "coalesce(i, 3) = 2",
    "nvl(i, 3) = 2": "coalesce(i, 3) = 2",
    "nvl2(i, 1, 2) = 1": "if(NOT i IS NULL, 1, 2) = 1",
    "nullif(i, 3) = 2": "if(i = 3, NULL, i) = 2",
    "if(i > 3, 1, 2) = 1": "if(i > 3, 1, 2) = 1",
    "CASE WHEN i = 1 THEN 2 WHEN i = 3 THEN 4 ELSE 5 END = 2": "if(i = 1, 2, if(i = 3, 4, 5)) = 2",
    "CASE i WHEN 1 THEN 2 END = 3": "if(i = 1, 2, NULL) = 3",
    "decode(i, 1, 'a', 'b') = 'a'": "if(i <=> 1, 'a', 'b') = 'a'",
    # what is not understood, or must not be
    "current_date() > dt": "?(CurrentDate is known only when the query runs) > dt",
    "now() > t": "?(Now is known only when the query runs) > t",
    "unix_timestamp() > l":
        "unix_timestamp(?(CurrentTimestamp is known only when the query runs), 'yyyy-MM-dd HH:mm:ss') > l",
    "rand() > 0.5": "?(Rand is known only when the query runs) > 0.5",
    "i = 3 AND rand() > 0.5": "(i = 3 AND ?(Rand is known only when the query runs) > 0.5)",
    "EXISTS (SELECT 1)": "?(a subquery is not decided)",
    "i IN (SELECT 1)": "?(a subquery is not decided)",
    "i = (SELECT 1)": "i = ?(a subquery is not decided)",
    "ar[0] = 1": "?(GetArrayItem is not decided) = 1",
    "m['a'] = 1": "?(GetMapValue is not decided) = 1",
    "array_contains(ar, 1)": "?(ArrayContains is not decided)",
    "hash(i) = 3": "?(Murmur3Hash is not decided) = 3",
    "named_struct('a', i).a = 3": "?(a field of a computed value is not decided) = 3",
    "interval 1 day > interval 2 day":
        "?(a constant of type interval day is not decided) > ?(a constant of type interval day is not decided"
        ")",
}
#: What Spark 3.5 does not parse.
NEWER_MEANINGS = {
    "s COLLATE UTF8_LCASE = 'a'":
        "?(Collate is not decided) = ?(a constant of type string collate UTF8_LCASE is not decided)",
    "s = 'a' COLLATE UTF8_LCASE": "CAST(s AS string collate UTF8_LCASE) = ?(Collate is not decided)",
    "zeroifnull(i) = 1": "coalesce(i, 0) = 1",
}
#: With ANSI.
ANSI_MEANINGS = {
    "s = 5": "CAST(s AS bigint) = 5",
    "i = '5'": "CAST(i AS bigint) = CAST('5' AS bigint)",
    "i = '5.0'": "CAST(i AS bigint) = CAST('5.0' AS bigint)",
    "dt IN ('2020-01-01', '2020-01-02')": "dt IN (DATE '2020-01-01', DATE '2020-01-02')",
}
#: As Spark 3.5 writes it.
OLDER_MEANINGS = {
    "t + INTERVAL 1 DAY > t": "CAST(?(TimeAdd is not decided) AS timestamp with local time zone) > t",
}
