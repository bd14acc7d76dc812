"""A small Kryo writer over the layout tables of ``sarg.kryo``, for filters that no Hive writes. It is not recursive.

>>> write(function("OPLessThan", column("a"), integer(5)))   # the bytes of a < 5   # doctest: +SKIP
"""

import struct
from dataclasses import dataclass, field

from sarg.kryo.layout import WRAPPERS, Shape, load_layouts
from sarg.kryo.reader import Generation

PLAN = "org.apache.hadoop.hive.ql.plan.ExprNode"
UDF = "org.apache.hadoop.hive.ql.udf.generic.GenericUDF"
TYPES = "org.apache.hadoop.hive.serde2.typeinfo."


@dataclass(eq=False)
class Obj:
    java: str
    fields: dict = field(default_factory=dict)


@dataclass(eq=False)
class Items:
    items: list
    java: str = "java.util.ArrayList"


@dataclass(eq=False)
class Wrapper:
    java: str
    value: object


class KryoWriter:
    """Writes object graphs in Kryo 3's or 5's form; a Python object is written once and then referenced."""

    def __init__(self, tables=("java", "hive_3_1", "text_2"), generation=Generation.KRYO3):
        self.layouts = load_layouts(tables)
        self.is_kryo5 = generation is Generation.KRYO5
        self.uses_generics = generation is not Generation.KRYO4
        self.out = bytearray()
        self.names = {}
        self.numbers = {}
        self.keep = []

    def write(self, top):
        tasks = [("object", top, top.java, False, ())]
        while tasks:
            kind, *rest = tasks.pop()
            if kind == "byte":
                self.out.append(rest[0])
            elif kind == "primitive":
                self.primitive(*rest)
            elif kind == "tagged":
                self.tagged(tasks, *rest)
            else:
                self.object(tasks, *rest)
        return bytes(self.out)

    def count(self, value):
        while value > 0x7F:
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)

    def primitive(self, kind, value):
        order = "<" if self.is_kryo5 else ">"
        if kind in ("int", "long"):
            bits = 31 if kind == "int" else 63
            self.zigzag(((value << 1) ^ (value >> bits)) & ((1 << bits + 1) - 1), 8 if kind == "long" else 4)
        elif kind in ("boolean", "byte"):
            self.out.append(int(value) & 0xFF)
        else:
            self.out += struct.pack(order + {"short": "h", "char": "H", "float": "f", "double": "d"}[kind], value)

    def zigzag(self, value, most):
        for _ in range(most):
            if value <= 0x7F:
                break
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)

    def text(self, text):
        if text is None:
            self.out.append(0x80)
            return
        units = text.encode("utf-16-le", "surrogatepass")
        units = struct.unpack(f"<{len(units) // 2}H", units)
        if 1 < len(units) < (33 if self.is_kryo5 else 64) and all(u < 0x80 for u in units):
            self.out += bytes(units[:-1]) + bytes([units[-1] | 0x80])
            return
        length = len(units) + 1
        first, length = length & 0x3F, length >> 6
        self.out.append(0x80 | first | (0x40 if length else 0))
        if length:
            self.count(length)
        for unit in units:
            if unit < 0x80:
                self.out.append(unit)
            elif unit < 0x800:
                self.out += bytes([0xC0 | unit >> 6, 0x80 | unit & 0x3F])
            else:
                self.out += bytes([0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F])

    def class_tag(self, java):
        registered = self.layouts.registered
        if java in registered:
            self.count(registered.index(java) + 2)
            return
        self.out.append(1)
        self.count(self.names.get(java, len(self.names)))
        if java not in self.names:
            self.names[java] = len(self.names)
            self.text(java)

    def tagged(self, tasks, value, arguments=()):
        if value is None:
            self.out.append(0)
            return
        java = "java.lang.String" if isinstance(value, str) else value.java
        self.class_tag(java)
        tasks.append(("object", value, java, False, arguments))

    def object(self, tasks, value, java, nullable, arguments):
        if java in WRAPPERS.values():
            if nullable:
                self.out.append(0 if value is None else 1)
            if value is not None:
                kind = next(primitive for primitive, wrapper in WRAPPERS.items() if wrapper == java)
                self.primitive(kind, value.value if isinstance(value, Wrapper) else value)
            return
        layout = self.layouts.of(java)
        if layout.shape is Shape.ENUM and self.is_kryo5:
            if nullable:
                self.out.append(0 if value is None else 1)
            if value is not None:
                self.count(layout.constants.index(value) + 1)
            return
        if value is None:
            self.out.append(0)
            return
        key = id(value)
        if key in self.numbers:
            self.count(self.numbers[key] + 2)
            return
        self.keep.append(value)
        self.numbers[key] = len(self.numbers)
        self.out.append(1)
        if isinstance(value, str) and layout.shape is Shape.ENUM:
            self.count(layout.constants.index(value) + 1)
        elif isinstance(value, str):
            self.text(value)
        elif layout.shape is Shape.FIELDS:
            self.fields(tasks, value, layout)
        elif layout.shape is Shape.SCALAR:
            self.scalar(layout.detail, value.fields)
        else:
            self.collection(tasks, value.items, arguments)

    def fields(self, tasks, value, layout):
        for slot in reversed(layout.slots):
            inner = value.fields.get(slot.name)
            if slot.primitive:
                tasks.append(("primitive", slot.primitive, inner or 0))
            elif slot.known:
                tasks.append(("object", inner, slot.known, slot.nullable, slot.arguments))
            else:
                tasks.append(("tagged", inner, slot.arguments))

    def scalar(self, serializer, fields):
        order = "little" if self.is_kryo5 else "big"
        match serializer:
            case "LocalDateSerializer":
                self.count(fields["year"])
                self.out += bytes([fields["month"], fields["day"]])
            case "SqlDateSerializer":
                self.out += fields["millis"].to_bytes(8, order, signed=True)
            case "TimestampSerializer":
                self.out += fields["millis"].to_bytes(8, order, signed=True) + fields["nanos"].to_bytes(4, order)
            case "TimestampTZSerializer":
                self.out += fields["seconds"].to_bytes(8, order, signed=True) + fields["nanos"].to_bytes(4, order)
                self.text(fields["zone"])

    def collection(self, tasks, items, arguments):
        final = arguments[0].name if arguments and self.uses_generics else ""
        final = final if self.layouts.is_final(final) else None
        if self.is_kryo5:
            length = len(items) + 1
            flag = 0x80 if final and None in items else 0
            self.out.append(flag | length & 0x3F | (0x40 if length > 0x3F else 0))
            if length > 0x3F:
                self.count(length >> 6)
        else:
            self.count(len(items))
        for item in reversed(items):
            tasks.append(("object", item, final, not self.is_kryo5 or bool(flag), ()) if final else ("tagged", item))


def type_info(name):
    return Obj(TYPES + "PrimitiveTypeInfo", {"typeName": name})


BOOLEAN, INT, STRING = type_info("boolean"), type_info("int"), type_info("string")


def column(name, hive_type=INT, alias="t"):
    return Obj(PLAN + "ColumnDesc", {"column": name, "tabAlias": alias, "typeInfo": hive_type})


def constant(value, hive_type=INT):
    return Obj(PLAN + "ConstantDesc", {"value": value, "typeInfo": hive_type})


def integer(value):
    return constant(Wrapper("java.lang.Integer", value))


def function(name, *children, hive_type=BOOLEAN):
    udf = name if isinstance(name, Obj) else Obj(name if "." in name else UDF + name)
    operands = Items(list(children))
    return Obj(
        PLAN + "GenericFuncDesc", {"children": operands, "chidren": operands, "genericUDF": udf, "typeInfo": hive_type}
    )


def bridge(name, java, *children, hive_type=BOOLEAN):
    return function(Obj(UDF + "Bridge", {"udfName": name, "udfClassName": java}), *children, hive_type=hive_type)


def write(top, tables=("java", "hive_3_1", "text_2"), generation=Generation.KRYO3):
    return KryoWriter(tables, generation).write(top)


HIVE_4 = (("java", "hive_4", "text_2"), Generation.KRYO5)
