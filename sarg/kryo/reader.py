"""Reads the object graph that Kryo wrote, with an explicit stack and the layout tables only.

No class named in the bytes is imported or instantiated: an object becomes a ``JavaObject`` with a class *name*.

    slot        [class tag unless the declared class is final] [reference unless a wrapper] body
    class tag   0 null; 1 by name: number, and the name when the number is new; n: registered id n - 2
    reference   0 null; 1 a new object (numbered in order of appearance); n: the object numbered n - 2

    =====  ===========  ============================  ==============================  =================
    wire   fixed width  list                          generic argument that is final  enum
    =====  ===========  ============================  ==============================  =================
    KRYO3  big-endian   n, tagged items               items without tag               takes a reference
    KRYO4  big-endian   n, tagged items               ignored                         takes a reference
    KRYO5  little       flag and n + 1; one tag for   items without tag               takes none
                        all when the flag is set
    =====  ===========  ============================  ==============================  =================

Back-references make the graph a DAG, or even cyclic. A caller that walks the graph must bound what it expands.

Facts: docs/facts/hive-kryo.md#kryos-rules.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sarg.kryo.errors import DecodeError, TooLargeError
from sarg.kryo.layout import TAGGED, WRAPPERS, Generic, Layout, Layouts, Shape, Slot
from sarg.kryo.limits import MAX_CLASS_NAME, MAX_OBJECT_DEPTH, MAX_OBJECTS
from sarg.kryo.scalars import SCALARS
from sarg.kryo.values import Boxed, JavaList, JavaObject
from sarg.kryo.wire import Wire

__all__ = ["Generation", "Reader"]


class Generation(enum.Enum):
    """The three wire forms."""

    KRYO3 = 3
    KRYO4 = 4
    KRYO5 = 5


@dataclass(slots=True)
class _Frame:
    """An object being read: ``slots`` once for its fields, or repeated until ``left`` items are read."""

    slots: tuple[Slot, ...]
    left: int
    fields: dict[str, Any] | None = None
    items: list[Any] | None = None
    finish: Callable[[], None] | None = None
    index: int = field(default=0)


class Reader:
    """Reads one input under one profile. ``position`` is the next byte to read, ``seen`` the classes that were read."""

    def __init__(self, data: bytes, layouts: Layouts, generation: Generation, max_objects: int = MAX_OBJECTS) -> None:
        self.wire = Wire(data, little_endian=generation is Generation.KRYO5)
        self.seen: set[str] = set()
        self._layouts = layouts
        self._is_kryo5 = generation is Generation.KRYO5
        self._uses_generics = generation is not Generation.KRYO4
        self._names: dict[int, str] = {}
        self._references: list[Any] = []
        self._stack: list[_Frame] = []
        self._objects = 0
        self._max_objects = min(max_objects, MAX_OBJECTS)

    @property
    def position(self) -> int:
        return self.wire.position

    @property
    def objects(self) -> int:
        """How many objects were read."""
        return self._objects

    def read(self, java: str) -> JavaObject:
        """The object of class ``java`` that fills the whole input. Raises DecodeError."""
        try:
            top = self._value(Slot("", known=java, nullable=False))
            self._run()
        except IndexError:
            raise DecodeError(len(self.wire.data), "the input ends too early") from None
        if self.position != len(self.wire.data):
            raise DecodeError(self.position, f"{len(self.wire.data) - self.position} bytes are left over")
        if not isinstance(top, JavaObject):
            raise DecodeError(0, f"the input does not hold a {java}")
        return top

    def _run(self) -> None:
        stack = self._stack
        while stack:
            frame = stack[-1]
            height = len(stack)
            slots, fields, items = frame.slots, frame.fields, frame.items
            count = len(slots)
            while frame.left:
                slot = slots[frame.index % count]
                frame.index += 1
                frame.left -= 1
                value = self._value(slot)
                if fields is not None:
                    fields[slot.name] = value
                elif items is not None:
                    items.append(value)
                if len(stack) > height:
                    break
            else:
                stack.pop()
                if frame.finish is not None:
                    frame.finish()

    def _push(self, frame: _Frame) -> None:
        if len(self._stack) >= MAX_OBJECT_DEPTH:
            raise DecodeError(self.position, f"objects are nested more than {MAX_OBJECT_DEPTH} deep")
        self._stack.append(frame)

    def _spend(self, count: int) -> None:
        self._objects += count
        if self._objects > self._max_objects:
            raise TooLargeError(self.position, f"more than {self._max_objects} objects")

    def _value(self, slot: Slot) -> Any:
        """Read one slot. Of a composite value only the head is read, and a frame is pushed for the rest."""
        if slot.primitive is not None:
            return self._primitive(slot.primitive)
        self._spend(1)
        if slot.known is not None:
            value = self._object(slot.known, slot.nullable, slot.arguments)
            return _boxed(slot.known, value) if slot.keeps_class else value
        java = self._class_tag()
        if java is None:
            return None
        return _boxed(java, self._object(java, False, slot.arguments))

    def _primitive(self, primitive: str) -> Any:
        wire = self.wire
        match primitive:
            case "int":
                return wire.zigzag_int()
            case "long":
                return wire.zigzag_long()
            case "boolean":
                return wire.flag()
            case "byte":
                return wire.signed_byte()
            case "short":
                return wire.short()
            case "char":
                return wire.char()
            case "float":
                return wire.float32()
            case "double":
                return wire.float64()
            case _:
                raise DecodeError(self.position, f"{primitive} is not a primitive")

    def _class_tag(self) -> str | None:
        tag = self.wire.count()
        if tag == 0:
            return None
        if tag > 1:
            if tag - 2 >= len(self._layouts.registered):
                raise DecodeError(self.position, f"class id {tag - 2} is not registered")
            return self._layouts.registered[tag - 2]
        number = self.wire.count()
        name = self._names.get(number)
        if name is None:
            if number != len(self._names):
                raise DecodeError(self.position, f"class name {number} is used before it is given")
            name = self.wire.string()
            if not name or len(name) > MAX_CLASS_NAME:
                raise DecodeError(self.position, "a class name is empty or too long")
            self._names[number] = name
        return name

    def _object(self, java: str, nullable: bool, arguments: tuple[Generic, ...]) -> Any:
        layout = self._layouts.of(java)
        if layout is None:
            raise DecodeError(self.position, f"class {java} has no layout: what follows it cannot be read")
        shape = layout.shape
        if shape is Shape.BOXED or (shape is Shape.ENUM and self._is_kryo5):
            if nullable and self.wire.count() == 0:
                return None
            return self._primitive(layout.detail) if shape is Shape.BOXED else self._constant(layout)
        reference = self.wire.count()
        if reference == 0:
            if nullable:
                return None
            raise DecodeError(self.position - 1, f"a {java} is null where it cannot be")
        if reference > 1:
            if reference - 2 >= len(self._references):
                raise DecodeError(self.position, f"reference to object {reference - 2}, which was not read yet")
            return self._references[reference - 2]
        number = len(self._references)
        self._references.append(None)
        self.seen.add(java)
        value = self._body(java, layout, arguments)
        self._references[number] = value
        return value

    def _constant(self, layout: Layout) -> str | None:
        ordinal = self.wire.count()
        if ordinal > len(layout.constants):
            raise DecodeError(self.position, f"an enum has no constant {ordinal - 1}")
        return layout.constants[ordinal - 1] if ordinal else None

    def _body(self, java: str, layout: Layout, arguments: tuple[Generic, ...]) -> Any:
        offset = self.position
        match layout.shape:
            case Shape.FIELDS:
                instance = JavaObject(java, {}, offset)
                if layout.is_flat:
                    for slot in layout.slots:
                        instance.fields[slot.name] = self._primitive(slot.primitive or "")
                    return instance
                self._push(_Frame(layout.slots, len(layout.slots), fields=instance.fields))
                return instance
            case Shape.ENUM:
                return self._constant(layout)
            case Shape.SCALAR if layout.detail == "ClassSerializer":
                name = self._class_tag()
                if not self._is_kryo5 or name == "void" or name in WRAPPERS.values():
                    self.wire.byte()  # a flag: the primitive, not its wrapper
                return JavaObject(java, {"name": name}, offset)
            case Shape.SCALAR:
                read = SCALARS.get(layout.detail)
                if read is None:
                    raise DecodeError(offset, f"class {java} is written by {layout.detail}, which is not known")
                return read(self.wire, java, offset)
            case Shape.PRIMITIVE_ARRAY:
                return self._primitive_array(java, layout.detail, offset)
            case _:
                sequence = JavaList(java, [], offset)
                self._begin_items(sequence, layout, arguments)
                return sequence

    def _primitive_array(self, java: str, kind: str, offset: int) -> Any:
        length = self.wire.count() - 1
        if length < 0:
            return None
        if kind == "B":
            return self.wire.raw(length)
        self._spend(length)
        primitive = {"I": "int", "J": "long", "S": "short", "C": "char", "F": "float", "D": "double", "Z": "boolean"}
        return JavaList(java, [self._primitive(primitive[kind]) for _ in range(length)], offset)

    def _begin_items(self, sequence: JavaList, layout: Layout, arguments: tuple[Generic, ...]) -> None:
        wire = self.wire
        match layout.shape:
            case Shape.COLLECTION if self._is_kryo5:
                self._begin_kryo5_collection(sequence, arguments, layout.detail != "no null")
            case Shape.COLLECTION:
                self._push_items(sequence, wire.count(), self._element(arguments, 0))
            case Shape.MAP:
                length = wire.count() - self._is_kryo5
                self._push_items(sequence, length, self._element(arguments, 0), self._element(arguments, 1))
            case Shape.TREE_MAP:
                entries = self._element(arguments, 0), self._element(arguments, 1)
                size = wire.count() - 1 if self._is_kryo5 else None  # Kryo 3 and 4 write the comparator first
                self._push(
                    _Frame(
                        (TAGGED,),
                        1,
                        items=[],
                        finish=lambda: self._push_items(sequence, wire.count() if size is None else size, *entries),
                    )
                )
            case Shape.ENUM_SET:
                self._read_enum_set(sequence)
            case Shape.TAGGED_ITEMS:
                self._push_items(sequence, wire.count() if layout.fixed_length < 0 else layout.fixed_length, TAGGED)
            case Shape.ARRAY_AS_LIST:
                length = wire.count()
                self._class_tag()
                self._push_items(sequence, length, TAGGED)
            case Shape.SUB_LIST:
                parent: list[Any] = []
                self._push(_Frame((TAGGED,), 1, items=parent, finish=lambda: self._take_sub_list(sequence, parent)))
            case _:
                element = layout.detail
                known = element if element.startswith("[") or self._layouts.is_final(element) else None
                self._push_items(sequence, wire.count() - 1, Slot("", known=known))

    def _push_items(self, sequence: JavaList, length: int, *slots: Slot) -> None:
        if length > 0:
            self._spend(0 if length < MAX_OBJECTS else length)
            self._push(_Frame(slots, length * len(slots), items=sequence.items))

    def _read_enum_set(self, sequence: JavaList) -> None:
        layout = self._layouts.of(self._class_tag() or "")
        if layout is None or layout.shape is not Shape.ENUM:
            raise DecodeError(self.position, "a set of enum constants does not tell its enum")
        length = self.wire.count()
        self._spend(length)
        sequence.items.extend([self._constant(layout) for _ in range(length)])

    def _element(self, arguments: tuple[Generic, ...], index: int) -> Slot:
        if self._uses_generics and index < len(arguments):
            generic = arguments[index]
            if self._layouts.is_final(generic.name):
                return Slot("", known=generic.name, arguments=generic.arguments)
            if self._is_kryo5 and generic.arguments:
                return Slot("", arguments=generic.arguments)
        return TAGGED

    def _begin_kryo5_collection(self, sequence: JavaList, arguments: tuple[Generic, ...], allows_null: bool) -> None:
        element = self._element(arguments, 0)
        if element.known is not None and not allows_null:
            flag, length = False, self.wire.count()
        else:
            flag, length = self.wire.flagged_count()
        length -= 1
        if length <= 0:
            return
        if element.known is not None:
            self._push_items(sequence, length, Slot("", known=element.known, nullable=flag))
        elif not flag:
            self._push_items(sequence, length, element)
        else:
            java = self._class_tag()
            if java is None:
                self._spend(length)
                sequence.items.extend([None] * length)
                return
            nullable = allows_null and self.wire.flag()
            self._push_items(
                sequence, length, Slot("", known=java, nullable=nullable, arguments=element.arguments, keeps_class=True)
            )

    def _take_sub_list(self, sequence: JavaList, parent: list[Any]) -> None:
        start, end = self.wire.count(), self.wire.count()
        whole = parent[0]
        if not isinstance(whole, JavaList) or whole is sequence or not start <= end <= len(whole.items):
            raise DecodeError(self.position, "a sub-list does not fit its list")
        self._spend(end - start)
        sequence.items.extend(whole.items[start:end])


def _boxed(java: str, value: Any) -> Any:
    return Boxed(java, value) if isinstance(value, bool | int | float) else value
