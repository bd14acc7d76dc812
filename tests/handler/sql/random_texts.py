"""Random SQL texts: conditions of a grammar that is larger than ours, mutated, and noise."""

from random import Random

__all__ = ["random_text"]


def _words(text: str) -> list[str]:
    return text.split()


VALUES = [
    *_words("a b.c `x y` st.x.y 1 0 -1 1e 1e5 1.5e 1e+ 1e99999999982.5 .5 5. 0x1F 1L 1S 1Y 1.5BD 1e400 1D 1F"),
    *_words("'x' 'a''b' \"q\" X'6162' X'zz' X'' b'x' NULL TRUE FALSE * ? :p @v $1 ${x} now() count(*)"),
    *_words("1_000 0b11 1d 1e5L 1.e5 .e5 1.2.3 1..2 NaN x->x current_date ARRAY(1) MAP(1,2) (1,2)"),
    *_words("DATE'2020-01-01' DATE'2020-13-45' TIMESTAMP'2020-01-01T00:00:00.1234567890Z' TIMESTAMP_NTZ'2020-01-01'"),
    "INTERVAL '1' DAY",
    "INTERVAL 1 DAY",
    "(SELECT 1)",
    "EXISTS (SELECT 1)",
    "9" * 4301,
    "'\\ud800'",
    "\ud800",
    "'\x00'",
    "\u0663",
    "\u00b2",
]
OPERATORS = _words(
    "= <> != < <= > >= <=> == + - * / % DIV & | ^ || << AND OR XOR IS -> => :: . , ; : ! ~ := ?: COLLATE"
)
TYPES = [
    *_words("int bigint string decimal decimal(10,2) decimal(\u00b2,1) decimal(99,98) decimal(-1) decimal(1,2,3)"),
    *_words("char(5) char(0) char(99999999999) varchar(\u0663) char(x) decimal(*,1) date timestamp binary foo(1)"),
    *_words("array<int> map<string,int> struct<a:int> interval void int[] timestamp(3) decimal(1e2,1)"),
]
FUNCTIONS = _words(
    "lower substr concat coalesce nvl2 nullif if date_add datediff to_date year abs round trim startswith contains "
    "like rlike isnull int decimal date cast position extract exists transform filter timestampadd repeat rpad pow "
    "array_repeat in between not any some every all struct from_json parse_json json_object"
)
WORDS = _words(
    "CASE WHEN THEN ELSE END SELECT FROM WHERE AS IN IS NOT LIKE ESCAPE BETWEEN ( ) , OVER FILTER WITHIN GROUP ORDER "
    "BY PARTITION ROWS LATERAL VIEW WITH VALUES INTERVAL DATE UNION LIMIT DISTINCT"
)
NOISE = "()[]{}'\"`,.;:-+*/%<>=!&|^~?@#$\\ \t\n\x00\x7f\u00a0\u2028\ud800\ufeff\u00e9\u0663\u00b2019eExXbBrRuU"


def random_text(random: Random) -> str:
    """A text that is a condition, nearly one, or nothing of the kind."""
    if random.random() < 0.8:
        return _mutated(random, _condition(random, random.choice([1, 1, 2, 3])))
    if random.random() < 0.5:
        return "".join(random.choice(NOISE) for _ in range(random.randint(0, 60)))
    words = VALUES + OPERATORS + TYPES + FUNCTIONS + WORDS
    return " ".join(random.choice(words) for _ in range(random.randint(1, 20)))


def _value(random: Random, depth: int) -> str:
    def value() -> str:
        return _value(random, depth - 1)

    kind = random.random()
    if depth <= 0 or kind < 0.45:
        return random.choice(VALUES)
    if kind < 0.6:
        return f"{value()} {random.choice(OPERATORS)} {value()}"
    if kind < 0.8:
        return f"{random.choice(FUNCTIONS)}({', '.join(value() for _ in range(random.randint(0, 4)))})"
    if kind < 0.88:
        return f"{random.choice(['CAST', 'TRY_CAST'])}({value()} AS {random.choice(TYPES)})"
    if kind < 0.92:
        return f"CASE WHEN {_condition(random, depth - 1)} THEN {value()} ELSE {value()} END"
    return random.choice(
        [
            f"({value()})",
            f"{value()}[{value()}]",
            f"{value()}::{random.choice(TYPES)}",
            f"{random.choice(TYPES)} {value()}",
            f"EXTRACT(year FROM {value()})",
            f"TRIM(BOTH {value()} FROM {value()})",
            f"{random.choice('-+~!')}{value()}",
        ]
    )


def _condition(random: Random, depth: int) -> str:
    def value() -> str:
        return _value(random, depth - 1)

    kind, negation = random.random(), random.choice(["", "", "NOT "])
    if depth <= 0 or kind < 0.3:
        return f"{value()} {random.choice(['=', '<', '>=', '<>', '<=>'])} {value()}"
    if kind < 0.4:
        return f"{value()} {negation}IN ({', '.join(value() for _ in range(random.randint(0, 4)))})"
    if kind < 0.47:
        return f"{value()} {negation}BETWEEN {random.choice(['', 'SYMMETRIC '])}{value()} AND {value()}"
    if kind < 0.6:
        escape = random.choice(["", "", f" ESCAPE {value()}"])
        return f"{value()} {negation}{random.choice(['LIKE', 'RLIKE', 'ILIKE', 'LIKE ANY'])} {value()}{escape}"
    if kind < 0.7:
        test = random.choice(["NULL", "TRUE", "UNKNOWN", f"DISTINCT FROM {value()}", value()])
        return f"{value()} IS {negation}{test}"
    if kind < 0.75:
        return f"NOT {_condition(random, depth - 1)}"
    if kind < 0.95:
        left, right = _condition(random, depth - 1), _condition(random, depth - 1)
        return f"({left} {random.choice(['AND', 'OR', 'XOR'])} {right})"
    return value()


def _mutated(random: Random, text: str) -> str:
    for _ in range(random.choice([0, 0, 0, 1, 1, 2, 4])):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice([1, 1, 2, 5, 10]))
        kind = random.random()
        if kind < 0.3:
            text = text[:start] + text[end:]
        elif kind < 0.6:
            text = text[:start] + random.choice(NOISE) + text[start:]
        elif kind < 0.8:
            text = text[:start] + text[start:end] * random.choice([2, 3, 30]) + text[end:]
        else:
            other = random.randrange(len(text) + 1)
            text = text[:start] + text[other : other + random.randint(1, 12)] + text[end:]
    return text
