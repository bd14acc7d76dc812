"""Every small change of a module that a test should notice: one mutant per change of its syntax tree.

    comparison      < to <=, <= to <, and each turned round; == to !=; in to not in; is to is not
    set and bits    & to |, | to &; ~ dropped
    logic           and to or, or to and; not dropped; an if turned round
    arithmetic      + to -, - to +; a minus dropped; // to *, * to //
    constants       True to False, False to True; n to n + 1; the name of one operator to another
    names           lo to hi, hi to lo; null to value, value to null; f(a, b) to f(b, a)

Docstrings, annotations, imports, decorators and the members of classes are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "mutants_of"]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mult: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_OPERATOR_NAMES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "!=", "!=": "=", "<=>": "="}
#: Functions whose arguments may come in any order.
_COMMUTATIVE = ("_and", "_either", "_or", "and_of", "min", "max", "np.minimum", "np.maximum")
_ATTRIBUTES = {"lo": "hi", "hi": "lo", "null": "value", "value": "null"}

Change = Callable[[], Callable[[], None]]


@dataclass(frozen=True)
class Mutant:
    """``tree`` is the changed module; ``was`` and ``now`` are the statement's text, ``inside`` its function."""

    tree: ast.Module
    line: int
    inside: str
    was: str
    now: str


def mutants_of(source: str) -> Iterator[Mutant]:
    """All mutants of a module, in order of their lines."""
    count = sum(1 for _ in _changes(ast.parse(source)))
    for wanted in range(count):
        tree = ast.parse(source)
        for number, (node, statement, inside, change) in enumerate(_changes(tree)):
            if number == wanted:
                was = _shown(statement)
                change()
                ast.fix_missing_locations(tree)
                yield Mutant(tree, node.lineno, inside, was, _shown(statement))
                break


def _shown(statement: ast.stmt) -> str:
    """The statement in one line; of a compound statement its head."""
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
        return ast.unparse(statement).splitlines()[0]
    return " ".join(ast.unparse(statement).split())


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.stmt, str, Callable[[], None]]]:
    """(node, its statement, its function, how to change it) of everything that can be changed."""
    for inside, statement in _statements(tree.body, ""):
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue  # its imports are for readers of types
        for expression in _expressions(statement):
            guards = {
                id(one.value) for one in ast.walk(expression) if isinstance(one, ast.keyword) and one.arg == "strict"
            }
            for node in ast.walk(expression):
                if (
                    isinstance(node, ast.expr) and id(node) not in guards
                ):  # zip(strict=...) finds faults of its own caller
                    for change in _changes_of(node):
                        yield node, statement, inside, change
        if isinstance(statement, ast.If | ast.While):
            yield statement.test, statement, inside, _negating(statement)


def _negating(owner: ast.If | ast.While | ast.IfExp) -> Callable[[], None]:
    def change() -> None:
        owner.test = ast.UnaryOp(ast.Not(), owner.test)

    return change


def _statements(body: list[ast.stmt], inside: str) -> Iterator[tuple[str, ast.stmt]]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name, body=inner):
                yield from _statements(inner, f"{inside}.{name}".lstrip("."))
            case ast.ClassDef(name=name, body=inner):
                functions = [statement for statement in inner if isinstance(statement, ast.FunctionDef)]
                yield from _statements(list(functions), f"{inside}.{name}".lstrip("."))
            case ast.Import() | ast.ImportFrom():
                pass
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                yield inside, statement
                for nested in ("body", "orelse", "finalbody"):
                    yield from _statements(getattr(statement, nested, []), inside)
                for handler in getattr(statement, "handlers", []):
                    yield from _statements(handler.body, inside)


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement itself, without annotations and without the statements in it."""
    match statement:
        case ast.AnnAssign(value=value):
            return [value] if value is not None else []
        case ast.Assign(value=value):
            return [value]
        case _:
            return [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]


def _changes_of(node: ast.expr) -> Iterator[Callable[[], None]]:
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    yield lambda place=place, other=other: ops.__setitem__(place, other())
        case ast.BinOp(op=op) if type(op) in _OPERATIONS:
            yield lambda: setattr(node, "op", _OPERATIONS[type(op)]())
        case ast.BoolOp(op=op):
            yield lambda: setattr(node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Invert() | ast.Not() | ast.USub()):
            yield lambda: setattr(node, "operand", ast.UnaryOp(node.op, node.operand))  # twice is not at all
        case ast.IfExp():
            yield _negating(node)
        case ast.Constant(value=bool() as flag):
            yield lambda: setattr(node, "value", not flag)
        case ast.Constant(value=int() | float() as number):
            yield lambda: setattr(node, "value", number + 1)
        case ast.Constant(value=str() as name) if name in _OPERATOR_NAMES:
            yield lambda: setattr(node, "value", _OPERATOR_NAMES[name])
        case ast.Attribute(attr=attr) if attr in _ATTRIBUTES:
            yield lambda: setattr(node, "attr", _ATTRIBUTES[attr])
        case ast.Call(
            func=function, args=[ast.Name() | ast.Attribute(), ast.Name() | ast.Attribute()] as arguments
        ) if ast.unparse(function) not in _COMMUTATIVE:
            yield lambda: arguments.reverse()
        case _:
            pass
