"""The quick way of binding gives what the general way gives, or leaves the leaf to it."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import pytest

from evaluator.binding import bind as general
from evaluator.binding.bind_plain import bind_plain
from evaluator.binding.leaves import Membership
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    decimal_type,
)

TYPES = [
    Type(Kind.TINYINT),
    Type(Kind.SMALLINT),
    INT,
    BIGINT,
    FLOAT,
    DOUBLE,
    decimal_type(10, 2),
    STRING,
    Type(Kind.CHAR, 5),
    Type(Kind.VARCHAR, 5),
    DATE,
    TIMESTAMP,
    BOOLEAN,
    Type(Kind.BINARY),
]
SCHEMA = Schema([Field(f"c{i}", of) for i, of in enumerate(TYPES)] + [Field("st.x", INT)])
VALUES = [
    0,
    5,
    -1,
    127,
    300,
    -141_428,
    -141_427,
    -800_000,
    2_932_897,
    2**31,
    2**63,
    -(2**63),
    1.5,
    0.0,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    "abc",
    "1",
    True,
    None,
    b"ab",
]
OPS = ["=", "!=", "<", "<=", ">", ">=", "<=>"]


def in_general(
    leaf: ex.HudiExpression, semantics: Semantics, monkeypatch: pytest.MonkeyPatch, schema: Schema = SCHEMA
) -> general.BoundLeaf:
    with monkeypatch.context() as patched:
        patched.setattr(general, "bind_plain", lambda *_: None)
        [result] = general.bind(leaf, schema, semantics).leaves
    return result


def assert_same_list(quick: general.BoundLeaf, wanted: general.BoundLeaf) -> None:
    assert (quick.columns, quick.reason, quick.lookup) == (wanted.columns, wanted.reason, wanted.lookup)
    assert isinstance(quick.test, Membership)
    assert isinstance(wanted.test, Membership)
    assert quick.test.operand == wanted.test.operand
    assert list(quick.test.members.values) == list(wanted.test.members.values)
    assert quick.test.members.has_null is wanted.test.members.has_null
    assert quick.test.members.array.dtype == wanted.test.members.array.dtype


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("declared", [False, True], ids=["no type in the filter", "a type in the filter"])
def test_what_is_bound_quickly_is_what_is_bound_in_general(
    engine: str, declared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    semantics = Semantics.named(engine, "Europe/Berlin")
    quick = 0
    for (index, of), value, op in itertools.product(enumerate(TYPES), VALUES, OPS):
        column = ex.Column((f"c{index}",), of if declared else None)
        leaf = ex.Compare(op, column, ex.Literal(value, of))
        actual = bind_plain(leaf, SCHEMA, semantics)
        if actual is not None:
            quick += 1
            assert actual[0] == in_general(leaf, semantics, monkeypatch)
    assert quick > 100


#: Wall clocks in microseconds: before 1582, 1900, in the gap and in the overlap of Berlin's clock in 2024, after 9999.
MOMENTS = [
    *(day * 86_400_000_000 + more for day in (-141_428, -30_000, -25_567, 0, 18_262, 2_932_897) for more in (0, 1)),
    1_711_850_400_000_000 + 1_800_000_000,
    1_729_994_400_000_000 + 1_800_000_000,
    Fraction(1, 1000),
    None,
]
TIMESTAMPS = (TIMESTAMP, Type(Kind.TIMESTAMP_LTZ))
WITH_TIMESTAMPS = Schema(
    [Field(f"{of}_{unit}", of, unit=unit) for of in TIMESTAMPS for unit in ("", "millis", "nanos")]
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Apia"])
def test_a_timestamp_is_bound_alike(engine: str, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    semantics = Semantics.named(engine, zone)
    quick = set()
    for field, declared, kind, value, op in itertools.product(
        WITH_TIMESTAMPS, (None, *TIMESTAMPS), TIMESTAMPS, MOMENTS, OPS
    ):
        leaf = ex.Compare(op, ex.Column((field.name,), declared), ex.Literal(value, kind))
        actual = bind_plain(leaf, WITH_TIMESTAMPS, semantics)
        if actual is not None:
            quick.add((field.type.kind, kind.kind))
            assert actual[0] == in_general(leaf, semantics, monkeypatch, WITH_TIMESTAMPS), leaf
    clock, instant = Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ
    assert quick == {(clock, clock), (instant, clock), (instant, instant)}


DECIMALS = [
    ex.Literal(Decimal(text), decimal_type(precision, scale))
    for text in ("50.5", "-3.25", "1.005", "0", "-0.00", "7", "1E+3", "1E+400", "0.1", "99999999999999999999", "NaN")
    for precision, scale in ((3, 1), (10, 2), (18, 2), (20, 5), (28, 2), (38, 2))
]
EXACT = [DOUBLE, FLOAT, BIGINT, STRING, *(decimal_type(*of) for of in ((5, 0), (10, 2), (18, 4), (20, 3), (38, 4)))]
WITH_DECIMALS = Schema([Field(f"c{i}", of) for i, of in enumerate(EXACT)])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_decimal_constant_is_bound_alike(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    semantics = Semantics.named(engine, "UTC")
    quick = set()
    for (index, of), constant, op in itertools.product(enumerate(EXACT), DECIMALS, OPS):
        leaf = ex.Compare(op, ex.Column((f"c{index}",)), constant)
        actual = bind_plain(leaf, WITH_DECIMALS, semantics)
        if actual is not None:
            quick.add(of)
            wanted = in_general(leaf, semantics, monkeypatch, WITH_DECIMALS)
            assert actual[0] == wanted, (of, constant)
            assert type(actual[0].test.right.interval.lo) is type(wanted.test.right.interval.lo)
    assert quick == {of for of in EXACT if of.kind in (Kind.DOUBLE, Kind.DECIMAL) and of.precision < 36}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_list_of_decimals_is_bound_alike(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    semantics = Semantics.named(engine, "UTC")
    quick = 0
    for (index, _), first, second in itertools.product(enumerate(EXACT), DECIMALS, DECIMALS[::7]):
        leaf = ex.In(ex.Column((f"c{index}",)), (first, second))
        actual = bind_plain(leaf, WITH_DECIMALS, semantics)
        if actual is not None:
            quick += 1
            assert_same_list(actual[0], in_general(leaf, semantics, monkeypatch, WITH_DECIMALS))
    assert quick > 100


@pytest.mark.parametrize("engine", ENGINES)
def test_a_null_test_is_bound_alike(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    semantics = Semantics.named(engine, "UTC")
    for index in range(len(TYPES)):
        leaf = ex.IsNull(ex.Column((f"C{index}",)))
        actual = bind_plain(leaf, SCHEMA, semantics)
        assert actual is not None
        assert actual[0] == in_general(leaf, semantics, monkeypatch)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_prefix_is_bound_alike(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    semantics = Semantics.named(engine, "UTC")
    patterns = itertools.product(
        range(len(TYPES)), ["abc%", "%", "a_%", "a%b%", "abc", "", "50\\%", "a\\%%", "50#%"], ["\\", "#", ""]
    )
    quick = 0
    for index, pattern, escape in patterns:
        leaf = ex.Like(ex.Column((f"c{index}",)), pattern, escape)
        actual = bind_plain(leaf, SCHEMA, semantics)
        if actual is not None:
            quick += 1
            assert actual[0] == in_general(leaf, semantics, monkeypatch), (pattern, escape)
    assert quick > 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "members",
    [[5], [5, 3, 5, None], [None], [], ["b", "a"], ["b", None], [2**31], [1.5], [-141_428, 5], [1, "1"]],
    ids=str,
)
def test_an_in_list_is_bound_alike(engine: str, members: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    semantics = Semantics.named(engine, "UTC")
    for (index, of), other in itertools.product(enumerate(TYPES), [None, Type(Kind.TINYINT), INT, BIGINT, DOUBLE]):
        own = of if other is None else other
        leaf = ex.In(ex.Column((f"c{index}",)), tuple(ex.Literal(m, own) for m in members))
        actual = bind_plain(leaf, SCHEMA, semantics)
        assert actual is not None or members != [5] or not (of.kind.is_integer and own.kind.is_integer)
        if actual is not None:
            assert_same_list(actual[0], in_general(leaf, semantics, monkeypatch))


@pytest.mark.parametrize(
    "leaf",
    [
        ex.Compare("=", ex.Column(("st", "x")), ex.Literal(1, INT)),
        ex.Compare("=", ex.Column(("nowhere",)), ex.Literal(1, INT)),
        ex.Compare("=", ex.Literal(1, INT), ex.Column(("c2",))),
        ex.Compare("=", ex.Column(("c2",)), ex.Literal(1, BIGINT)),
        ex.Compare("=", ex.Column(("c2",), BIGINT), ex.Literal(1, INT)),
        ex.Compare("=", ex.Column(("c2",)), ex.Column(("c2",))),
        ex.Unknown("why"),
    ],
    ids=str,
)
def test_anything_else_is_left_to_the_general_way(leaf: ex.HudiExpression) -> None:
    assert bind_plain(leaf, SCHEMA, Semantics.named("spark", "UTC")) is None
