"""The profiles under which bytes are read. The bytes do not name the Hive that wrote them: profiles are tried in order.

A profile is a Kryo generation and the tables of class layouts. A profile is accepted only when it reads the **whole**
input **and** the tree is plausible (``sarg.hive_tree.build``). Where two profiles accept the same bytes, they yield the
same tree; ``tests/sarg/test_corpus.py`` checks that for filters of every supported Hive version.

Two classes have a form that the version of Hive does not determine. Hadoop's ``Text`` occurs inside some functions, and
its form depends on the version of Hadoop. The state of json_read has another form from Hive 4.1. Their second forms are
tried only when an earlier profile met the class. "Kryo 4" is the form of vendors that ship Hive with Kryo 4.0.x.

Facts: docs/facts/hive-kryo.md#kryo-generations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from evaluator.language.records import frozen
from sarg.kryo.errors import DecodeError, TooLargeError
from sarg.kryo.layout import load_layouts
from sarg.kryo.limits import MAX_TOTAL_OBJECTS
from sarg.kryo.reader import Generation, Reader
from sarg.kryo.values import JavaObject

__all__ = ["EXPRESSION_PROFILES", "SEARCH_ARGUMENT_PROFILES", "Profile", "read_with_profiles"]

R = TypeVar("R")
_TEXT = "org.apache.hadoop.io.Text"
_JSON_READER = "org.apache.hadoop.hive.serde2.json.HiveJsonReader"


@frozen
class Profile:
    """A way to read: ``tables`` are merged in order. ``only_if_seen`` is a class that an earlier one must have met."""

    name: str
    generation: Generation
    tables: tuple[str, ...]
    only_if_seen: str | None = None


def _with_both_text_forms(name: str, generation: Generation, *tables: str, newest_first: bool = False) -> list[Profile]:
    text_forms = [("text_2", "Hadoop up to 3.3"), ("text_3", "Hadoop 3.4")]
    if newest_first:
        text_forms.reverse()
    return [
        Profile(f"{name}, {label}", generation, ("java", *tables, text), _TEXT if index else None)
        for index, (text, label) in enumerate(text_forms)
    ]


EXPRESSION_PROFILES: tuple[Profile, ...] = (
    *_with_both_text_forms("Hive 4 (Kryo 5)", Generation.KRYO5, "hive_4"),
    Profile(
        "Hive 4 (Kryo 5) from 4.1, Hadoop 3.4",
        Generation.KRYO5,
        ("java", "hive_4", "text_3", "json_reader_4_1"),
        _JSON_READER,
    ),
    *_with_both_text_forms("Hive 3.1 (Kryo 3)", Generation.KRYO3, "hive_3_1"),
    *_with_both_text_forms("Hive 2.3 (Kryo 3)", Generation.KRYO3, "hive_2_3", newest_first=True),
    *_with_both_text_forms("Hive 3.1 (Kryo 4)", Generation.KRYO4, "hive_3_1", "java_time"),
    *_with_both_text_forms("Hive 2.3 (Kryo 4)", Generation.KRYO4, "hive_2_3", "java_time", newest_first=True),
    *_with_both_text_forms("Hive 4 (Kryo 4)", Generation.KRYO4, "hive_4", "kryo_4"),
)

SEARCH_ARGUMENT_PROFILES: tuple[Profile, ...] = (
    Profile("SearchArgument of Hive 4 (Kryo 5)", Generation.KRYO5, ("java", "hive_4", "text_2")),
    Profile(
        "SearchArgument, storage-api 2.8 (plain Kryo 3 or 4)",
        Generation.KRYO3,
        ("java", "hive_2_3", "text_3", "plain_kryo_3"),
    ),
    Profile(
        "SearchArgument, storage-api 2.4 to 2.7 (plain Kryo 3 or 4)",
        Generation.KRYO3,
        ("java", "hive_3_1", "text_2", "plain_kryo_3"),
    ),
    Profile("SearchArgument of Hive 3.1 (Kryo 3)", Generation.KRYO3, ("java", "hive_3_1", "text_2")),
    Profile("SearchArgument of Hive 2.3 (Kryo 3)", Generation.KRYO3, ("java", "hive_2_3", "text_3")),
    Profile(
        "SearchArgument, storage-api 2.8 (plain Kryo 5)", Generation.KRYO5, ("java", "hive_4", "text_2", "plain_kryo_5")
    ),
)


def read_with_profiles(
    data: bytes,
    profiles: tuple[Profile, ...],
    top: str,
    build: Callable[[JavaObject], R],
    max_objects: int = MAX_TOTAL_OBJECTS,
) -> tuple[Profile, R]:
    """The first profile that reads all of ``data`` as a ``top`` that ``build`` accepts, and the value of ``build``.

    Raises the DecodeError of the profile that read farthest. A profile that read to the end counts as farthest.
    ``max_objects``: how many objects are read under all profiles together; more raise TooLargeError.
    """
    farthest: DecodeError | None = None
    farthest_position = -1
    objects = 0
    seen: set[str] = set()
    for profile in profiles:
        if profile.only_if_seen is not None and profile.only_if_seen not in seen:
            continue
        reader = Reader(data, load_layouts(profile.tables), profile.generation, max_objects - objects)
        position = -1
        try:
            graph = reader.read(top)
            position = len(data) + 1
            return profile, build(graph)
        except DecodeError as error:
            if position > len(data) and isinstance(error, TooLargeError):  # all other profiles would build as much
                raise
            position = max(position, reader.position)
            if position > farthest_position:
                farthest_position, farthest = (
                    position,
                    type(error)(error.offset, f"{error.why} (read as {profile.name})"),
                )
        seen = reader.seen
        objects += reader.objects
        if objects > max_objects:
            if isinstance(farthest, TooLargeError):
                raise farthest
            raise TooLargeError(reader.position, f"more than {max_objects} objects under all profiles together")
    raise farthest or DecodeError(0, "no profile")
