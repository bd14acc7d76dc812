"""The parameters of the queries of TPC-H: the qualification run, and others drawn by its rules.

Both follow clause 2.4 of the specification of TPC-H: "Substitution Parameters" and "Query Validation" of each query.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from random import Random

from tests.tpc.constants import Parameters

REGIONS: Mapping[str, tuple[str, ...]] = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
NATIONS = tuple(nation for nations in REGIONS.values() for nation in nations)
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
TYPES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
CONTAINERS = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))
_COLORS = """
    almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished
    chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick
    floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender
    lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive
    orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy
    seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow
"""
COLORS = _COLORS.split()
WORDS = (("special", "pending", "unusual", "express"), ("packages", "requests", "accounts", "deposits"))

#: What the queries have as constants, not as parameters.
FIXED: Parameters = {
    "Q1": {"last": datetime.date(1998, 12, 1)},
    "Q7": {"first": datetime.date(1995, 1, 1), "last": datetime.date(1996, 12, 31)},
    "Q8": {"first": datetime.date(1995, 1, 1), "last": datetime.date(1996, 12, 31)},
    "Q10": {"flag": "R"},
    "Q16": {"word1": "Customer", "word2": "Complaints"},
    "Q19": {"mode1": "AIR", "mode2": "AIR REG", "instruction": "DELIVER IN PERSON"},
    "Q21": {"status": "F"},
    "Q22": {"balance": Decimal("0.00")},
}


def _with_fixed(drawn: Parameters) -> Parameters:
    return {query: {**FIXED.get(query, {}), **values} for query, values in drawn.items()}


QUALIFICATION: Parameters = _with_fixed(
    {
        "Q1": {"delta": 90},
        "Q2": {"size": 15, "type": "BRASS", "region": "EUROPE"},
        "Q3": {"segment": "BUILDING", "date": datetime.date(1995, 3, 15)},
        "Q4": {"date": datetime.date(1993, 7, 1)},
        "Q5": {"region": "ASIA", "date": datetime.date(1994, 1, 1)},
        "Q6": {"date": datetime.date(1994, 1, 1), "discount": Decimal("0.06"), "quantity": 24},
        "Q7": {"nation1": "FRANCE", "nation2": "GERMANY"},
        "Q8": {"nation": "BRAZIL", "region": "AMERICA", "type": "ECONOMY ANODIZED STEEL"},
        "Q9": {"color": "green"},
        "Q10": {"date": datetime.date(1993, 10, 1)},
        "Q11": {"nation": "GERMANY"},
        "Q12": {"mode1": "MAIL", "mode2": "SHIP", "date": datetime.date(1994, 1, 1)},
        "Q13": {"word1": "special", "word2": "requests"},
        "Q14": {"date": datetime.date(1995, 9, 1)},
        "Q15": {"date": datetime.date(1996, 1, 1)},
        "Q16": {
            "brand": "Brand#45",
            "type": "MEDIUM POLISHED",
            **{f"size{n}": size for n, size in enumerate((49, 14, 23, 45, 19, 3, 36, 9), 1)},
        },
        "Q17": {"brand": "Brand#23", "container": "MED BOX"},
        "Q19": {
            "quantity1": 1,
            "quantity2": 10,
            "quantity3": 20,
            "brand1": "Brand#12",
            "brand2": "Brand#23",
            "brand3": "Brand#34",
        },
        "Q20": {"color": "forest", "date": datetime.date(1994, 1, 1), "nation": "CANADA"},
        "Q21": {"nation": "SAUDI ARABIA"},
        "Q22": {f"code{n}": code for n, code in enumerate(("13", "31", "23", "29", "30", "18", "17"), 1)},
    }
)


def drawn(seed: int) -> Parameters:
    """Parameters of all queries, drawn by the rules of the specification."""
    random = Random(f"TPC-H {seed}")

    def month(first: tuple[int, int], last: tuple[int, int]) -> datetime.date:
        """The first day of a month between two (year, month)."""
        number = random.randint(first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1)
        return datetime.date(number // 12, number % 12 + 1, 1)

    def year() -> datetime.date:
        return datetime.date(random.randint(1993, 1997), 1, 1)

    def brand() -> str:
        return f"Brand#{random.randint(1, 5)}{random.randint(1, 5)}"

    def region() -> str:
        return random.choice(list(REGIONS))

    nations = random.sample(NATIONS, 2)
    modes = random.sample(MODES, 2)
    words = [random.choice(words) for words in WORDS]
    types = [" ".join(random.choice(words) for words in TYPES) for _ in range(2)]
    return _with_fixed(
        {
            "Q1": {"delta": random.randint(60, 120)},
            "Q2": {"size": random.randint(1, 50), "type": random.choice(TYPES[2]), "region": region()},
            "Q3": {"segment": random.choice(SEGMENTS), "date": datetime.date(1995, 3, random.randint(1, 31))},
            "Q4": {"date": month((1993, 1), (1997, 10))},
            "Q5": {"region": region(), "date": year()},
            "Q6": {
                "date": year(),
                "discount": Decimal(random.randint(2, 9)) / 100,
                "quantity": random.randint(24, 25),
            },
            "Q7": {"nation1": nations[0], "nation2": nations[1]},
            "Q8": {"region": region(), "type": types[0]},
            "Q9": {"color": random.choice(COLORS)},
            "Q10": {"date": month((1993, 2), (1995, 1))},
            "Q11": {"nation": random.choice(NATIONS)},
            "Q12": {"mode1": modes[0], "mode2": modes[1], "date": year()},
            "Q13": {"word1": words[0], "word2": words[1]},
            "Q14": {"date": month((1993, 1), (1997, 12))},
            "Q15": {"date": month((1993, 1), (1997, 10))},
            "Q16": {
                "brand": brand(),
                "type": " ".join(types[1].split()[:2]),
                **{f"size{n}": size for n, size in enumerate(random.sample(range(1, 51), 8), 1)},
            },
            "Q17": {"brand": brand(), "container": " ".join(random.choice(words) for words in CONTAINERS)},
            "Q19": {
                "quantity1": random.randint(1, 10),
                "quantity2": random.randint(10, 20),
                "quantity3": random.randint(20, 30),
                "brand1": brand(),
                "brand2": brand(),
                "brand3": brand(),
            },
            "Q20": {"color": random.choice(COLORS), "date": year(), "nation": random.choice(NATIONS)},
            "Q21": {"nation": random.choice(NATIONS)},
            "Q22": {f"code{n}": str(code) for n, code in enumerate(random.sample(range(10, 35), 7), 1)},
        }
    )


def parameters(seed: int) -> Parameters:
    """Seed 0 is the qualification run."""
    return QUALIFICATION if seed == 0 else drawn(seed)
