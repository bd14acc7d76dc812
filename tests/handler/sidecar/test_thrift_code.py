"""The generated code and its types say what the IDL says; with the compiler here, it is what the compiler writes."""

import ast
import re

import pytest

from handler.sidecar.sargo_thrift import Sargo, ttypes
from tests.handler.sidecar import thrift_code

FIELD = re.compile(r"^\s*(\d+): (required |optional )?(\S+) (\w+);$", re.MULTILINE)
TYPES = {"i32": "int", "i64": "int", "string": "str", "binary": "bytes", "bool": "bool", "list<string>": "list[str]"}
WIRE = {"i32": 8, "i64": 10, "string": 11, "binary": 11, "bool": 2, "list<string>": 15}


def fields_of_the_idl(name):
    """(number, whether it is required, type, name) of each field of a struct."""
    text = thrift_code.IDL.read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    body = re.search(rf"^(?:struct|exception) {name} {{\n(.*?)^}}", text, re.DOTALL | re.MULTILINE)[1]
    return [(int(number), how == "required ", of, field) for number, how, of, field in FIELD.findall(body)]


def test_the_generated_code_is_what_the_compiler_writes():
    if why := thrift_code.missing():
        pytest.skip(why)
    assert thrift_code.generated() == thrift_code.checked_in()


@pytest.mark.parametrize("name", ["PruneRequest", "PruneReply", "Refused"])
def test_the_generated_fields_are_those_of_the_idl(name):
    generated = [spec[:3] for spec in getattr(ttypes, name).thrift_spec if spec]
    assert generated == [(number, WIRE[of], field) for number, _, of, field in fields_of_the_idl(name)]


@pytest.mark.parametrize("name", ["PruneRequest", "PruneReply", "Refused"])
def test_the_types_for_mypy_are_those_of_the_idl(name):
    stub = ast.parse((thrift_code.FOLDER / "ttypes.pyi").read_text())
    made = next(node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == name)
    given = {node.target.id: ast.unparse(node.annotation) for node in made.body if isinstance(node, ast.AnnAssign)}
    expected = {field: TYPES[of] + ("" if needed else " | None") for _, needed, of, field in fields_of_the_idl(name)}
    if name == "PruneRequest":
        expected |= dict.fromkeys(("filter", "names"), "bytes | memoryview")
    assert given == expected


def test_the_methods_are_those_of_the_idl():
    methods = set(re.findall(r"^  \w+ (\w+)\(", thrift_code.IDL.read_text(), re.MULTILINE))
    assert methods == {name for name in vars(Sargo.Iface) if not name.startswith("_")}
