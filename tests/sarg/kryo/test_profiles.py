"""Wire forms that are not in the corpus: vendors' Kryo 4, lists that only some writers use, Hadoop's two Texts."""

import pytest

import sarg
from sarg.kryo.layout import Generic, load_layouts, parse_generic
from sarg.kryo.reader import Generation
from tests.sarg.kryo_writer import (
    HIVE_4,
    INT,
    PLAN,
    STRING,
    TYPES,
    Items,
    Obj,
    column,
    constant,
    function,
    integer,
    type_info,
    write,
)
from tests.sarg.plain_text import plain_text

HIVE_3_VENDOR = (("java", "hive_3_1", "java_time", "text_2"), Generation.KRYO4)
HIVE_4_VENDOR = (("java", "hive_4", "kryo_4", "text_2"), Generation.KRYO4)
DATE = type_info("date")
STRUCT = Obj(
    TYPES + "StructTypeInfo",
    {"allStructFieldNames": Items(["x", "y"]), "allStructFieldTypeInfos": Items([INT, STRING])},
)


def field_of_struct():
    field = Obj(PLAN + "FieldDesc", {"desc": column("st", STRUCT), "fieldName": "x", "isList": False, "typeInfo": INT})
    return function("OPEqual", field, integer(5))


@pytest.mark.parametrize(
    ("form", "profile"),
    [
        ((("java", "hive_3_1", "text_2"), Generation.KRYO3), "Hive 3.1 (Kryo 3)"),
        (HIVE_3_VENDOR, "Hive 3.1 (Kryo 4)"),
        (HIVE_4, "Hive 4 (Kryo 5)"),
    ],
    ids=["Kryo 3", "Kryo 4", "Kryo 5"],
)
def test_names_of_struct_fields_follow_the_rules_of_each_generation(form, profile):
    """The one list with a final element class: untagged in Kryo 3 and 5, tagged in Kryo 4."""
    decoded = sarg.decode_detailed(write(field_of_struct(), *form))
    assert decoded.profile.startswith(profile)
    assert plain_text(decoded.expression) == "st.x = 5"
    assert decoded.exprnode.children[0].struct.type == "struct<x:int,y:string>"


def test_a_filter_of_hive_4_on_kryo_4_is_read():
    assert plain_text(sarg.decode(write(field_of_struct(), *HIVE_4_VENDOR))) == "st.x = 5"


def test_java_time_under_kryo_4_is_compact():
    """Year as varint, month, day: Hive 3.1 with Kryo 4 writes DATE constants so."""
    local = Obj("java.time.LocalDate", {"year": 2020, "month": 1, "day": 2})
    date = Obj("org.apache.hadoop.hive.common.type.Date", {"localDate": local})
    data = write(function("OPEqual", column("dt", DATE), constant(date, DATE)), *HIVE_3_VENDOR)
    assert b"\xe4\x0f\x01\x02" in data
    decoded = sarg.decode_detailed(data)
    assert plain_text(decoded.expression) == "dt = 18263"
    assert decoded.profile.startswith("Hive 3.1 (Kryo 4)")


@pytest.mark.parametrize("form", [HIVE_3_VENDOR, HIVE_4_VENDOR, HIVE_4], ids=["3 vendor", "4 vendor", "4"])
def test_an_instant_is_read_whatever_the_number_of_its_class(form):
    moment = Obj("org.apache.hadoop.hive.common.type.TimestampTZ", {"seconds": -1, "nanos": 5000, "zone": "Asia/Tokyo"})
    hive_type = type_info("timestamp with local time zone")
    assert (
        plain_text(sarg.decode(write(function("OPEqual", column("t", hive_type), constant(moment, hive_type)), *form)))
        == "t = -999995"
    )


@pytest.mark.parametrize(
    "java",
    [
        "java.util.LinkedList",
        "com.google.common.collect.RegularImmutableList",
        "org.apache.hive.com.google.common.collect.SomeOtherList",
    ],
)
def test_children_may_be_any_kind_of_list(java):
    tree = function("OPEqual", column("a"), integer(5))
    tree.fields["chidren"].java = tree.fields["children"].java = java
    assert plain_text(sarg.decode(write(tree))) == "a = 5"


@pytest.mark.parametrize("form", [HIVE_3_VENDOR, HIVE_4], ids=["Kryo 4", "Kryo 5"])
def test_children_may_be_an_immutable_list_of_the_jdk(form):
    tree = function("OPEqual", column("a"), integer(5))
    tree.fields["chidren"].java = tree.fields["children"].java = "java.util.ImmutableCollections$ListN"
    assert plain_text(sarg.decode(write(tree, *form))) == "a = 5"


def test_an_immutable_list_of_one_class_has_no_byte_for_nulls():
    """Kryo 5: a list that cannot contain null has its element class once, and no byte about nulls."""
    data = write(function("OPNot", function("OPNull", column("a"))), *HIVE_4)
    mixed = b"java.util.ArrayLis\xf4\x01\x02"
    assert data.count(mixed) == 1
    immutable = bytes([0x80 | 37]) + b"java.util.ImmutableCollections$ListN\x01\x82"
    assert plain_text(sarg.decode(data.replace(mixed, immutable))) == "NOT a IS NULL"
    with pytest.raises(sarg.DecodeError):
        sarg.decode(data.replace(mixed, mixed[:-1] + b"\x82"))


def test_generic_types_are_parsed_with_their_arguments():
    assert parse_generic("java.util.Map<java.lang.String, java.util.List<? extends a.B>>") == Generic(
        "java.util.Map", (Generic("java.lang.String"), Generic("java.util.List", (Generic("? extends a.B"),)))
    )
    assert parse_generic("java.lang.String[]") == Generic("[Ljava.lang.String;")
    assert parse_generic("byte[]") == Generic("[B")


@pytest.mark.parametrize("tables", [("hive_2_3",), ("hive_3_1",), ("hive_4",)])
def test_every_class_of_the_tables_has_a_layout(tables):
    layouts = load_layouts(("java", *tables, "text_2"))
    assert all(layouts.of(java) is not None for java in layouts.classes)
    assert len(layouts.classes) > 450
    assert layouts.of("com.example.Unknown") is None
