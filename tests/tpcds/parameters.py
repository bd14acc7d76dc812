"""The parameters of the queries of TPC-DS: the qualification run, and others drawn by its rules.

Both follow appendix B of the specification of TPC-DS. A rule that draws from the stores of a scale factor draws from
all counties, cities and states here. The 400 postal codes of Q8 are drawn in every run.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random

from tests.tpc.constants import Parameters, Value

CATEGORIES = ("Books", "Children", "Electronics", "Home", "Jewelry", "Men", "Music", "Shoes", "Sports", "Women")
_CLASSES = """
    accessories athletic birdal classical computers diamonds dresses estate fiction fitness football
    fragrances golf infants kids maternity mens mystery outdoor pants pop reference rock romance shirts stereo
    travel womens
"""
CLASSES = _CLASSES.split()
_COLORS = """
    almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon
    chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro
    ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon
    medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder
    puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle
    tomato turquoise violet wheat white yellow
"""
COLORS = _COLORS.split()
_UNITS = """
    Unknown Each Dozen Case Pallet Gross Carton Box Bunch Bundle Oz Lb Ton Ounce Pound Tsp Tbl Cup Dram Gram
    N/A
"""
UNITS = _UNITS.split()
SIZES = ("petite", "small", "medium", "large", "extra large", "economy", "N/A")
STATUSES = ("M", "S", "D", "W", "U")
EDUCATIONS = (
    "Primary",
    "Secondary",
    "College",
    "2 yr Degree",
    "4 yr Degree",
    "Advanced Degree",
    "Unknown",
)
_STATES = """
    AL AR AZ CA CO FL GA IA ID IL IN KS KY LA MI MN MO MS MT NC ND NE NM NY OH OK OR PA SC SD TN TX UT VA WA
    WI WV WY
"""
STATES = _STATES.split()
COUNTIES = (
    "Williamson County",
    "Franklin Parish",
    "Bronx County",
    "Orange County",
    "Rush County",
    "Toole County",
    "Jefferson County",
    "Dona Ana County",
    "La Porte County",
    "Madison County",
    "Jackson County",
    "Wayne County",
)
CITIES = ("Fairview", "Midway", "Edgewood", "Marion", "Crossroads", "Woodland", "Union", "Oakdale", "Lakewood")
POTENTIALS = ("1001-5000", ">10000", "501-1000", "0-500", "Unknown", "5001-10000")
CARRIERS = ("DHL", "BARIAN", "UPS", "FEDEX", "AIRBORNE", "USPS", "MSC", "LATVIAN", "ZOUROS")

#: Draws the value of a parameter, or as many as its qualification values are.
Rule = Callable[[Random, int], "Value | Sequence[Value]"]


def number(first: int, last: int) -> Rule:
    return lambda random, _: random.randint(first, last)


def numbers(first: int, last: int) -> Rule:
    return lambda random, count: random.sample(range(first, last + 1), count)


def word(words: Sequence[Value]) -> Rule:
    return lambda random, _: random.choice(words)


def words(words: Sequence[Value]) -> Rule:
    return lambda random, count: random.sample(words, count)


def day(first: tuple[int, int], last: tuple[int, int]) -> Rule:
    """A day between two (month, day) of one of the years of the sales."""

    def drawn(random: Random, count: int) -> datetime.date:
        year = random.randint(1998, 2002)
        start, end = (datetime.date(year, *edge).toordinal() for edge in (first, last))
        return datetime.date.fromordinal(random.randint(start, end))

    return drawn


def _quarters(random: Random, count: int) -> Sequence[Value]:
    year = random.randint(1998, 2002)
    return [f"{year}Q{quarter}" for quarter in (1, 2, 3)]


def _zips(count: int) -> tuple[str, ...]:
    return tuple(str(code) for code in Random("TPC-DS Q8").sample(range(10000, 100000), count))


def _zip_codes(random: Random, count: int) -> Sequence[Value]:
    return [str(code) for code in random.sample(range(10000, 100000), count)]


def _three_days(random: Random, count: int) -> Sequence[Value]:
    year = random.randint(1998, 2002)
    return [datetime.date(year, month, random.randint(1, 24)) for month in (random.randint(1, 7), 9, 11)]


_YEAR, _MONTH, _LATE = number(1998, 2002), number(1, 7), number(11, 12)
_SEQUENCE = number(1176, 1224)
_SPRING = day((1, 1), (7, 1))
_PEOPLE: dict[str, tuple[object, Rule]] = {
    "gender": ("M", word(("M", "F"))),
    "status": ("S", word(STATUSES)),
    "education": ("College", word(EDUCATIONS)),
}

_CLOTHES_COLORS = """
    powder khaki brown honeydew floral deep light cornflower midnight snow cyan papaya orange frosted forest
    ghost
"""
_CLOTHES_UNITS = """
    Ounce Oz Bunch Ton N/A Dozen Box Pound Pallet Gross Cup Dram Each Tbl Lb Bundle
"""
#: Query -> parameter -> its value in the qualification run, and how others are drawn. The values of a list are the
#: parameters "name1", "name2", ...
RULES: dict[str, dict[str, tuple[object, Rule]]] = {
    "Q1": {"year": (2000, _YEAR), "state": ("TN", word(STATES))},
    "Q2": {"year": (2001, number(1998, 2001))},
    "Q3": {"month": (11, _LATE), "manufacturer": (128, number(1, 1000))},
    "Q4": {"year": (2001, number(1998, 2001))},
    "Q5": {"date": (datetime.date(2000, 8, 23), day((8, 1), (8, 30)))},
    "Q6": {"year": (2001, _YEAR), "month": (1, _MONTH)},
    "Q7": {**_PEOPLE, "year": (2000, _YEAR)},
    "Q8": {"year": (1998, _YEAR), "quarter": (2, number(1, 2)), "zip": (_zips(400), _zip_codes)},
    "Q9": {"year": (2001, _YEAR)},
    "Q10": {"year": (2002, number(1999, 2002)), "month": (1, number(1, 4)), "county": (COUNTIES[4:9], words(COUNTIES))},
    "Q11": {"year": (2001, number(1998, 2001))},
    "Q12": {
        "date": (datetime.date(1999, 2, 22), _SPRING),
        "category": (("Sports", "Books", "Home"), words(CATEGORIES)),
    },
    "Q13": {
        "year": (2001, number(2001, 2001)),
        "status": (("M", "S", "W"), words(STATUSES)),
        "education": (("Advanced Degree", "College", "2 yr Degree"), words(EDUCATIONS)),
        "state": (("TX", "OH", "TX", "OR", "NM", "KY", "VA", "TX", "MS"), words(STATES)),
    },
    "Q14": {"year": (1999, number(1998, 2000)), "day": (11, number(1, 28))},
    "Q15": {"year": (2001, _YEAR), "quarter": (2, number(1, 2))},
    "Q16": {"date": (datetime.date(2002, 2, 1), day((2, 1), (5, 1))), "state": ("GA", word(STATES))},
    "Q17": {"quarter": (("2001Q1", "2001Q2", "2001Q3"), _quarters)},
    "Q18": {
        "year": (1998, _YEAR),
        "gender": ("F", word(("M", "F"))),
        "education": ("Unknown", word(EDUCATIONS)),
        "month": ((1, 6, 8, 9, 12, 2), numbers(1, 12)),
        "state": (("MS", "IN", "ND", "OK", "NM", "VA", "MS"), words(STATES)),
    },
    "Q19": {"year": (1998, _YEAR), "month": (11, _LATE), "manager": (8, number(1, 100))},
    "Q20": {
        "date": (datetime.date(1999, 2, 22), _SPRING),
        "category": (("Sports", "Books", "Home"), words(CATEGORIES)),
    },
    "Q21": {"date": (datetime.date(2000, 3, 11), day((1, 31), (7, 1)))},
    "Q22": {"sequence": (1200, _SEQUENCE)},
    "Q23": {"year": (2000, number(1998, 2000)), "month": (2, _MONTH)},
    "Q24": {"market": (8, number(5, 10)), "color": (("pale", "chiffon"), words(COLORS))},
    "Q25": {"year": (2001, _YEAR), "month": (4, number(4, 4))},
    "Q26": {**_PEOPLE, "year": (2000, _YEAR)},
    "Q27": {**_PEOPLE, "year": (2002, _YEAR), "state": (("TN",) * 6, words(STATES))},
    "Q28": {
        "price": ((8, 90, 142, 135, 122, 154), numbers(0, 190)),
        "coupon": ((459, 2323, 12214, 6071, 836, 7326), numbers(0, 18000)),
        "cost": ((57, 31, 79, 38, 17, 7), numbers(0, 80)),
    },
    "Q29": {"year": (1999, number(1998, 2000)), "month": (9, number(4, 9))},
    "Q30": {"year": (2002, number(1999, 2002)), "state": ("GA", word(STATES))},
    "Q31": {"year": (2000, _YEAR)},
    "Q32": {"date": (datetime.date(2000, 1, 27), day((1, 1), (4, 1))), "manufacturer": (977, number(1, 1000))},
    "Q33": {
        "year": (1998, _YEAR),
        "month": (5, _MONTH),
        "offset": (-5, number(-8, -5)),
        "category": ("Electronics", word(CATEGORIES)),
    },
    "Q34": {
        "year": (1999, number(1998, 2000)),
        "potential": ((">10000", "unknown"), words(POTENTIALS)),
        "county": (("Williamson County",) * 8, words(COUNTIES)),
    },
    "Q35": {"year": (2002, number(1999, 2002))},
    "Q36": {"year": (2001, _YEAR)},
    "Q37": {
        "date": (datetime.date(2000, 2, 1), day((1, 1), (7, 24))),
        "price": (68, number(10, 70)),
        "manufacturer": ((677, 940, 694, 808), numbers(667, 1000)),
    },
    "Q38": {"sequence": (1200, _SEQUENCE)},
    "Q39": {"year": (2001, _YEAR), "month": (1, number(1, 4))},
    "Q40": {"date": (datetime.date(2000, 3, 11), day((1, 31), (7, 1)))},
    "Q41": {
        "manufacturer": (738, number(667, 1000)),
        "color": (
            _CLOTHES_COLORS.split(),
            words(COLORS),
        ),
        "unit": (
            _CLOTHES_UNITS.split(),
            words(UNITS),
        ),
        "size": (("medium", "extra large", "N/A", "small", "petite", "large"), words(SIZES)),
    },
    "Q42": {"year": (2000, _YEAR), "month": (11, _LATE)},
    "Q43": {"year": (2000, _YEAR), "offset": (-5, number(-8, -5))},
    "Q44": {"store": (4, number(1, 12))},
    "Q45": {"year": (2001, _YEAR), "quarter": (2, number(1, 2))},
    "Q46": {
        "year": (1999, number(1998, 2000)),
        "dependants": (4, number(0, 9)),
        "vehicles": (3, number(-1, 4)),
        "city": (("Fairview", "Midway", "Fairview", "Fairview", "Fairview"), words(CITIES)),
    },
    "Q47": {"year": (1999, number(1999, 2001))},
    "Q48": {
        "year": (2000, _YEAR),
        "status": (("M", "D", "S"), words(STATUSES)),
        "education": (("4 yr Degree", "2 yr Degree", "College"), words(EDUCATIONS)),
        "state": (("CO", "OH", "TX", "OR", "MN", "KY", "VA", "CA", "MS"), words(STATES)),
    },
    "Q49": {"year": (2001, _YEAR), "month": (12, _LATE)},
    "Q50": {"year": (2001, _YEAR), "month": (8, number(8, 10))},
    "Q51": {"sequence": (1200, _SEQUENCE)},
    "Q52": {"year": (2000, _YEAR), "month": (11, _LATE)},
    "Q53": {"sequence": (1200, _SEQUENCE)},
    "Q54": {
        "year": (1998, _YEAR),
        "month": (12, _MONTH),
        "category": ("Women", word(CATEGORIES)),
        "class": ("maternity", word(CLASSES)),
    },
    "Q55": {"year": (1999, _YEAR), "month": (11, _LATE), "manager": (28, number(1, 100))},
    "Q56": {
        "year": (2001, _YEAR),
        "month": (2, _MONTH),
        "offset": (-5, number(-8, -5)),
        "color": (("slate", "blanched", "burnished"), words(COLORS)),
    },
    "Q57": {"year": (1999, number(1999, 2001))},
    "Q58": {"date": (datetime.date(2000, 1, 3), day((1, 1), (7, 24)))},
    "Q59": {"sequence": (1212, number(1176, 1212))},
    "Q60": {
        "year": (1998, _YEAR),
        "month": (9, number(8, 10)),
        "offset": (-5, number(-8, -5)),
        "category": ("Music", word(CATEGORIES)),
    },
    "Q61": {
        "year": (1998, _YEAR),
        "month": (11, _LATE),
        "offset": (-5, number(-7, -6)),
        "category": ("Jewelry", word(CATEGORIES)),
    },
    "Q62": {"sequence": (1200, _SEQUENCE)},
    "Q63": {"sequence": (1200, _SEQUENCE)},
    "Q64": {
        "year": (1999, number(1999, 2001)),
        "color": (["purple", "burlywood", "indian", "spring", "floral", "medium"], words(COLORS)),
        "price": (64, number(0, 85)),
    },
    "Q65": {"sequence": (1176, _SEQUENCE)},
    "Q66": {
        "year": (2001, _YEAR),
        "time": (30838, number(1, 57597)),
        "carrier": (("DHL", "BARIAN"), words(CARRIERS)),
    },
    "Q67": {"sequence": (1200, _SEQUENCE)},
    "Q68": {"year": (1999, number(1998, 2000)), "dependants": (4, number(0, 9)), "vehicles": (3, number(-1, 4))},
    "Q69": {
        "year": (2001, number(1999, 2004)),
        "month": (4, number(1, 4)),
        "state": (("KY", "GA", "NM"), words(STATES)),
    },
    "Q70": {"sequence": (1200, _SEQUENCE)},
    "Q71": {"year": (1999, _YEAR), "month": (11, _LATE)},
    "Q72": {"year": (1999, _YEAR), "potential": (">10000", word(POTENTIALS[:3])), "status": ("D", word(STATUSES))},
    "Q73": {"year": (1999, number(1998, 2000)), "potential": ((">10000", "unknown"), words(POTENTIALS))},
    "Q74": {"year": (2001, number(1998, 2001))},
    "Q75": {"year": (2002, number(1999, 2002)), "category": ("Books", word(CATEGORIES))},
    "Q77": {"date": (datetime.date(2000, 8, 23), day((8, 1), (8, 30)))},
    "Q78": {"year": (2000, _YEAR)},
    "Q79": {"year": (1999, number(1998, 2000)), "dependants": (6, number(0, 9)), "vehicles": (2, number(-1, 4))},
    "Q80": {"date": (datetime.date(2000, 8, 23), day((8, 1), (8, 30)))},
    "Q81": {"year": (2000, _YEAR), "state": ("GA", word(STATES))},
    "Q82": {
        "date": (datetime.date(2000, 5, 25), day((1, 1), (7, 24))),
        "price": (62, number(0, 90)),
        "manufacturer": ((129, 270, 821, 423), numbers(1, 1000)),
    },
    "Q83": {"date": (tuple(datetime.date(2000, *day) for day in ((6, 30), (9, 27), (11, 17))), _three_days)},
    "Q84": {"city": ("Edgewood", word(CITIES)), "income": (38128, number(0, 70000))},
    "Q85": {
        "year": (2000, _YEAR),
        "status": (("M", "S", "W"), words(STATUSES)),
        "education": (("Advanced Degree", "College", "2 yr Degree"), words(EDUCATIONS)),
        "state": (("IN", "OH", "NJ", "WI", "CT", "KY", "LA", "IA", "AR"), words(STATES)),
    },
    "Q86": {"sequence": (1200, _SEQUENCE)},
    "Q87": {"sequence": (1200, _SEQUENCE)},
    "Q88": {"count": ((4, 2, 0), numbers(-1, 4))},
    "Q89": {
        "year": (1999, _YEAR),
        "category": (("Books", "Electronics", "Sports", "Men", "Jewelry", "Women"), words(CATEGORIES)),
        "class": (("computers", "stereo", "football", "shirts", "birdal", "dresses"), words(CLASSES)),
    },
    "Q90": {"dependants": (6, number(0, 9)), "morning": (8, number(6, 12)), "evening": (19, number(13, 21))},
    "Q91": {
        "year": (1998, _YEAR),
        "month": (11, _LATE),
        "potential": ("Unknown", word(POTENTIALS)),
        "offset": (-7, number(-7, -6)),
    },
    "Q92": {"date": (datetime.date(2000, 1, 27), day((1, 1), (4, 1)))},
    "Q93": {"reason": ("reason 28", word([f"reason {reason}" for reason in range(26, 70)]))},
    "Q94": {"date": (datetime.date(1999, 2, 1), day((2, 1), (5, 1))), "state": ("IL", word(STATES))},
    "Q95": {"date": (datetime.date(1999, 2, 1), day((2, 1), (5, 1))), "state": ("IL", word(STATES))},
    "Q96": {"dependants": (7, number(0, 9)), "hour": (20, word((20, 15, 16, 8)))},
    "Q97": {"sequence": (1200, _SEQUENCE)},
    "Q98": {
        "date": (datetime.date(1999, 2, 22), _SPRING),
        "category": (("Sports", "Books", "Home"), words(CATEGORIES)),
    },
    "Q99": {"sequence": (1200, _SEQUENCE)},
}


def _values(rules: dict[str, tuple[object, Rule]], random: Random | None) -> Iterator[tuple[str, Value]]:
    for name, (qualification, rule) in rules.items():
        several = isinstance(qualification, Sequence) and not isinstance(qualification, str)
        count = len(qualification) if several else 1
        given = qualification if random is None else rule(random, count)
        if several:
            yield from ((f"{name}{place}", value) for place, value in enumerate(given, 1))
        else:
            yield name, given


@cache
def parameters(seed: int) -> Parameters:
    """Seed 0 is the qualification run. A query of constants alone is not among them."""
    random = Random(f"TPC-DS {seed}") if seed else None
    return {query: dict(_values(rules, random)) for query, rules in RULES.items()}
