"""The filter of a scan of Spark as bytes: a JSON document that Sargo's Spark extension sends to the sidecar.

    {"version": 1, "conditions": [{"nodes": [...], "exact": {"3": "/", ...}}, ...]}

All conditions must hold. ``nodes`` is Catalyst's JSON of one of them (``tree``), and ``exact`` has, by the index of
the node, what that JSON leaves out:

    node                              value
    ================================  ==================================================================
    Literal of type timestamp         microseconds since 1970 in UTC, an integer of 64 bits
    Literal of type binary            {"base64": text}
    Like, ILike                       the escape character
    LikeAny, LikeAll, and NOT         a list of texts, null for NULL
    InSet                             a list of [type, value] in Spark's internal form: days and microseconds as
                                      integers, decimals as text, "NaN", "Infinity", "-Infinity", {"base64": text};
                                      or the integers of a long list, as in ``sorted_keys``
    CommonExpressionDef, ...Ref       the id of the definition
    any other                         the function's name in SQL, for reasons

Bytes, containers, levels and nodes are bounded before anything is made of them. What is damaged in one place is not
believed in another: the whole document is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.language.errors import SargoError
from evaluator.language.expression import And, Constant, HudiExpression
from handler.catalyst.sorted_keys import SortedKeys, read_sorted_keys
from handler.catalyst.translation import condition_of
from handler.catalyst.tree import class_name
from index_store.formats.bounded.json_text import check_depth, parse_json
from index_store.storage.errors import FormatError

__all__ = ["DocumentError", "TooLargeDocumentError", "read_document", "without_run_numbers"]

_WHAT = "the filter"
_VERSION = 1
#: The longest document of all: more than any sidecar takes by default.
_MAX_BYTES = 16 << 20
_INDEX = re.compile(r"[0-9]{1,7}", re.ASCII)
#: What Catalyst numbers anew in each run: the same query would be another document each time.
_RUN_NUMBERS = re.compile(
    rb'"exprId":\{"product-class":"[\w.$]{1,100}","id":[0-9]{1,20},"jvmId":"[0-9a-fA-F-]{1,64}"\}'
)
_PATTERNS = ("LikeAny", "LikeAll", "NotLikeAny", "NotLikeAll")
_IDS = ("CommonExpressionDef", "CommonExpressionRef")
_LONG = 1 << 63


class DocumentError(SargoError):
    """The bytes are no filter document of a version that is known. ``why`` holds no values of the filter."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class TooLargeDocumentError(DocumentError):
    """The document has more nodes than the caller allows. With a larger limit it may be readable."""


def without_run_numbers(document: bytes) -> bytes:
    """The document without the numbers of expressions, which change from run to run and mean nothing here.

    >>> document = b'{"name":"i","exprId":{"product-class":"a.ExprId","id":7,"jvmId":"85a6-7625"},"dataType":"integer"}'
    >>> without_run_numbers(document).decode()
    '{"name":"i","exprId":{},"dataType":"integer"}'
    """
    return _RUN_NUMBERS.sub(b'"exprId":{}', document)


def read_document(document: bytes, zone: str = "UTC", *, max_nodes: int = 100_000) -> HudiExpression:
    """The AND of a document's conditions; without any, TRUE. What is not understood in them is unknown.

    ``zone``: the session's time zone, as for ``condition_of``. ``max_nodes`` counts the nodes of all conditions and
    the members of their lists. Raises DocumentError, beyond ``max_nodes`` TooLargeDocumentError.
    """
    conditions = [_parts(condition) for condition in _conditions(document)]
    count = sum(len(nodes) + sum(map(_members, exact.values())) for nodes, exact in conditions)
    if count > max_nodes:
        raise TooLargeDocumentError(f"the filter has more than {max_nodes} parts")
    read = [_condition(nodes, exact, zone) for nodes, exact in conditions]
    if len(read) == 1:
        return read[0]
    return And(tuple(read)) if read else Constant(True)


def _conditions(document: bytes) -> Sequence[Any]:
    if len(document) > _MAX_BYTES:
        raise TooLargeDocumentError(f"the filter has more than {_MAX_BYTES} bytes")
    try:
        plain = parse_json(document.decode("utf-8"), _WHAT, _MAX_BYTES)
        check_depth(plain, _WHAT)
        if b"\\u" in document:
            json.dumps(plain, ensure_ascii=False).encode("utf-8")  # half of a surrogate pair is no text of Spark
    except (FormatError, UnicodeError) as error:
        raise DocumentError("the filter is no JSON in UTF-8, or it is too deep or too full") from error
    version = plain.get("version") if isinstance(plain, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version != _VERSION:
        raise DocumentError("the filter's version is not known")
    conditions = plain.get("conditions")
    if not isinstance(conditions, list):
        raise DocumentError("the filter has no list of conditions")
    return conditions


def _parts(condition: Any) -> tuple[list[dict[str, Any]], dict[int, Any]]:
    """The nodes of a condition, and what they leave out, as they stand in the document."""
    if not isinstance(condition, dict):
        raise DocumentError("a condition of the filter is no object")
    nodes, exact = condition.get("nodes"), condition.get("exact", {})
    if not isinstance(nodes, list) or not nodes or not isinstance(exact, dict):
        raise DocumentError("a condition of the filter has no nodes")
    for node in nodes:
        children = node.get("num-children") if isinstance(node, dict) else None
        if not isinstance(children, int) or isinstance(children, bool) or children < 0:
            raise DocumentError("a node of the filter has no number of children")
        if not isinstance(node.get("class"), str):
            raise DocumentError("a node of the filter has no class")
    values = {}
    for index, value in exact.items():
        if not _INDEX.fullmatch(index) or int(index) >= len(nodes):
            raise DocumentError("the filter has a value of a node that it does not have")
        values[int(index)] = value
    return nodes, values


def _members(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _condition(nodes: list[dict[str, Any]], exact: dict[int, Any], zone: str) -> HudiExpression:
    values = {index: _exact(nodes[index], value) for index, value in exact.items()}
    try:
        return condition_of(nodes, values, zone)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DocumentError(f"a condition of the filter is no tree of Catalyst ({type(error).__name__})") from error


def _exact(node: Mapping[str, Any], value: Any) -> Any:
    """A value as ``translation`` takes it. Raises DocumentError for one that a node of this class cannot have."""
    name = class_name(node)
    match name, value:
        case "Literal", int() if node.get("dataType") == "timestamp" and not isinstance(value, bool):
            return _long(value)
        case "Literal", {"base64": str(text)} if node.get("dataType") == "binary":
            return _bytes(text)
        case "Like" | "ILike", str() if len(value) == 1:
            return value
        case _, list() if name in _PATTERNS and all(text is None or isinstance(text, str) for text in value):
            return value
        case "InSet", list():
            return [_member(member) for member in value]
        case "InSet", {"type": str(type_name), "differences": str(text)}:
            return _keys(type_name, text)
        case _, str() if name not in ("Literal", "Like", "ILike", "InSet", *_PATTERNS):
            return value
        case _:
            raise DocumentError(f"the filter has a value that a node of class {name:.60} cannot have")


def _member(member: Any) -> tuple[str, Any]:
    """A member of InSet: its type, and its value as ``translation`` takes it."""
    match member:
        case [str(type_name), bool(value)]:
            return type_name, "true" if value else "false"
        case [str(type_name), int(value)]:
            return type_name, _long(value)
        case [str(type_name), float(value)] if math.isfinite(value):
            return type_name, value
        case ["binary", {"base64": str(text)}]:
            return "binary", _bytes(text)
        case [str(type_name), None | str() as text] if text is None or type_name != "binary":
            return type_name, text
        case _:
            raise DocumentError("the filter has a member of a list that is no [type, value]")


def _keys(type_name: str, text: str) -> SortedKeys:
    try:
        return read_sorted_keys(type_name, text)
    except ValueError as error:
        raise DocumentError(f"the filter has a long list that is not read: {error}") from error


def _long(value: int) -> int:
    if not -_LONG <= value < _LONG:
        raise DocumentError("the filter has an integer of more than 64 bits")
    return value


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DocumentError("the filter has a binary value that is not Base64") from error
