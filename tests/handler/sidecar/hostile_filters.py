"""Filters that no Hive sends: small as bytes, large as trees, and each different from the others."""

import base64
import random

from tests.sarg.kryo_writer import STRING, Wrapper, bridge, column, constant, function, type_info, write

DOUBLE = type_info("double")


def encoded(tree):
    """The filter as Hive puts it into a configuration."""
    return base64.b64encode(write(tree)).decode()


def number(value):
    return constant(Wrapper("java.lang.Double", float(value)), DOUBLE)


def less(value, name="amount"):
    return function("OPLessThan", column(name, DOUBLE), number(value))


def one_of(count, seed=0):
    """OR of so many comparisons."""
    return function("OPOr", *[less(seed + n / 7) for n in range(count)])


def doubled(levels, seed=0):
    """ANDs and ORs by turns, each twice the node below it: 2^levels comparisons from some 60 bytes a level."""
    node = less(seed)
    for level in range(levels):
        node = function("OPAnd" if level % 2 else "OPOr", node, node)
    return node


def repeated(levels, seed=0):
    """nullif of nullif: each contains its operand twice when it is translated."""
    operand = column("amount", DOUBLE)
    for _ in range(levels):
        operand = function("Nullif", operand, number(seed), hive_type=DOUBLE)
    return function("OPLessThan", operand, number(seed))


def long_texts(count, seed=0):
    """So many comparisons with one text of 200,000 characters: each is printed with it."""
    text = constant(f"{seed}" + "x" * 200_000, STRING)
    return function("OPOr", *[function("OPEqual", column("name", STRING), text) for _ in range(count)])


def wildcards(seed=0):
    """A pattern of many wildcards."""
    pattern = constant(f"{seed}" + "%_" * 4_000, STRING)
    like = bridge("like", "org.apache.hadoop.hive.ql.udf.UDFLike", column("name", STRING), pattern)
    return function("OPAnd", like, less(seed))


def undecided(count, seed=0):
    """So many conditions that are not understood, each with a reason of its own."""
    return function(
        "OPOr",
        *[bridge(f"f{n}", f"com.acme.of{seed}.Function{n}", column("amount", DOUBLE)) for n in range(count)],
        less(seed),
    )


def product(factors):
    """A product of one column: of each slice it is worked out in Python."""
    operand = column("amount", DOUBLE)
    for _ in range(factors):
        operand = function("OPMultiply", operand, column("amount", DOUBLE), hive_type=DOUBLE)
    return function("OPLessThan", operand, number(5))


def any_hostile(seed, scale=1.0):
    """A hostile filter by its seed; every seed gives another one. ``scale``: of those that are large as bytes."""
    chance = random.Random(seed)
    kinds = [
        lambda: doubled(chance.randint(8, 17), seed),
        lambda: repeated(chance.randint(8, 60), seed),
        lambda: one_of(int(scale * chance.randint(200, 3_000)), seed),
        lambda: long_texts(int(scale * chance.randint(10, 200)), seed),
        lambda: undecided(chance.randint(1, 300), seed),
        lambda: wildcards(seed),
        lambda: function("OPAnd", product(chance.randint(2, 150)), less(seed)),
    ]
    return encoded(chance.choice(kinds)())
