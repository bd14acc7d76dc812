"""The scans of ``date_dim`` in the 99 queries of TPC-DS."""

from __future__ import annotations

from tests.tpc.scan import scans


def _day(query: str, days: int) -> tuple[str, str, str]:
    return query, "date_dim", f"d_date between {{date}} and ({{date + {days} day}})"


def _year(query: str, year: str = "{year}") -> tuple[str, str, str]:
    return query, "date_dim", f"d_year = {year}"


def _month(query: str, month: str = "{month}", year: str = "{year}") -> tuple[str, str, str]:
    return query, "date_dim", f"d_moy = {month} and d_year = {year}"


def _quarter(query: str, quarter: str = "{quarter}") -> tuple[str, str, str]:
    return query, "date_dim", f"d_qoy = {quarter} and d_year = {{year}}"


def _sequence(query: str, first: str = "{sequence}", last: str = "{sequence + 11}") -> tuple[str, str, str]:
    return query, "date_dim", f"d_month_seq between {first} and {last}"


_NEAR = "d_date between ({date - 30 day}) and ({date + 30 day})"
_TWELVE = f"d_month_seq in ({{sequence}}, {', '.join(f'{{sequence + {n}}}' for n in range(1, 12))})"
_AROUND = "d_year = {year} or (d_year = {year - 1} and d_moy = 12) or (d_year = {year + 1} and d_moy = 1)"
_THREE = "d_year in ({year}, {year + 1}, {year + 2})"
_QUARTERS = "d_quarter_name in ({quarter1}, {quarter2}, {quarter3})"

DATES = scans(
    *(_year(query) for query in ("Q1", "Q2.1", "Q4.1", "Q7", "Q9", "Q11.1", "Q13", "Q18", "Q26", "Q27", "Q30", "Q36")),
    *(_year(query, "{year + 1}") for query in ("Q2.2", "Q4.2", "Q11.2")),
    ("Q3", "date_dim", "d_moy = {month}"),
    _day("Q5", 14),
    *(_month(query) for query in ("Q6", "Q19", "Q23.2", "Q25.1", "Q29.1", "Q33", "Q42", "Q49", "Q50", "Q52", "Q54")),
    *(_quarter(query) for query in ("Q8", "Q15", "Q45")),
    ("Q10", "date_dim", "d_year = {year} and d_moy between {month} and {month + 3}"),
    *(_day(query, 30) for query in ("Q12", "Q20", "Q77", "Q80", "Q98")),
    ("Q14.1", "date_dim", "d_year between {year} and {year + 2}"),
    ("Q14.2", "date_dim", "d_year = {year + 2} and d_moy = 11"),
    ("Q14.3", "date_dim", "d_year = {year + 1} and d_moy = 12 and d_dom = {day}"),
    *(_day(query, 60) for query in ("Q16", "Q37", "Q82", "Q94", "Q95")),
    ("Q17.1", "date_dim", "d_quarter_name = {quarter1}"),
    ("Q17.2", "date_dim", _QUARTERS),
    ("Q21", "date_dim", _NEAR),
    *(_sequence(query) for query in ("Q22", "Q38", "Q51", "Q59.1", "Q62", "Q65", "Q67", "Q70", "Q86", "Q87")),
    *(_sequence(query) for query in ("Q97", "Q99")),
    ("Q23.1", "date_dim", "d_year in ({year}, {year + 1}, {year + 2}, {year + 3})"),
    ("Q25.2", "date_dim", "d_moy between {month} and 10 and d_year = {year}"),
    ("Q29.2", "date_dim", "d_moy between {month} and {month + 3} and d_year = {year}"),
    ("Q29.3", "date_dim", _THREE),
    *(_quarter(f"Q31.{number}", str(number)) for number in (1, 2, 3)),
    *(_day(query, 90) for query in ("Q32", "Q92")),
    ("Q34", "date_dim", f"(d_dom between 1 and 3 or d_dom between 25 and 28) and {_THREE}"),
    ("Q35", "date_dim", "d_year = {year} and d_qoy < 4"),
    ("Q39.1", "date_dim", "d_year = {year} and d_moy = {month}"),
    ("Q39.2", "date_dim", "d_year = {year} and d_moy = {month + 1}"),
    ("Q40", "date_dim", _NEAR),
    *(_year(query) for query in ("Q43", "Q48", "Q66", "Q72", "Q75.1", "Q78", "Q81", "Q85", "Q89")),
    _year("Q75.2", "{year - 1}"),
    ("Q46", "date_dim", f"d_dow in (6, 0) and {_THREE}"),
    ("Q47", "date_dim", _AROUND),
    ("Q53", "date_dim", _TWELVE),
    *(_month(query) for query in ("Q55", "Q56", "Q60", "Q61", "Q71", "Q91")),
    ("Q57", "date_dim", _AROUND),
    ("Q58", "date_dim", "d_date = {date}"),
    _sequence("Q59.2", "{sequence + 12}", "{sequence + 23}"),
    ("Q63", "date_dim", _TWELVE),
    ("Q64.2", "date_dim", "d_year = {year + 1}"),
    ("Q68", "date_dim", f"d_dom between 1 and 2 and {_THREE}"),
    ("Q69", "date_dim", "d_year = {year} and d_moy between {month} and {month + 2}"),
    ("Q73", "date_dim", f"d_dom between 1 and 2 and {_THREE}"),
    ("Q74", "date_dim", "d_year in ({year}, {year + 1})"),
    ("Q79", "date_dim", f"d_dow = 1 and {_THREE}"),
    ("Q83", "date_dim", "d_date in ({date1}, {date2}, {date3})"),
)
