"""``sargo decode``: Hive's typed tree, and the filter that Sargo reads from it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from evaluator.language import expression as ex
from handler.views.tree import draw_tree
from sarg import Decoded
from sarg.hive_tree.exprnode import ColumnNode, ConstantNode, DynamicNode, ExprNode, FieldNode, FunctionNode

__all__ = ["expression_tree", "hive_tree", "show_decoded"]


def show_decoded(decoded: Decoded, console: Console) -> None:
    """Print the profile that the bytes were read with, both trees, and the filter as one line."""
    console.print(Text.assemble(("Wire form  ", "bold"), str(decoded.profile)))
    if decoded.exprnode is not None:
        console.print(Text("\nHive's expression", style="bold"))
        console.print(hive_tree(decoded.exprnode))
    console.print(Text("\nThe filter as Sargo understands it", style="bold"))
    console.print(expression_tree(decoded.expression))
    console.print(Text.assemble(("\nAs text  ", "bold"), ex.to_text(decoded.expression)))


def hive_tree(node: ExprNode) -> Tree:
    """Hive's typed tree: functions by class, columns, constants with their Java class."""
    return draw_tree(node, _hive_label, lambda n: n.children_of())


def _hive_label(node: ExprNode) -> Text:
    match node:
        case FunctionNode(bridge=bridge):
            name = node.simple_name if bridge is None else f"{node.simple_name} → {bridge.simple_name}"
            return Text.assemble((name, "cyan"), (f"  {node.type}", "dim"))
        case ColumnNode(name=name, is_partition_or_virtual=special):
            note = ", partition or virtual column" if special else ""
            return Text.assemble((name, "green"), (f"  {node.type}{note}", "dim"))
        case ConstantNode(value=value):
            shown = node.to_dict()
            return Text.assemble(
                (str(shown.get("const")), "yellow"),
                (f"  {node.type}", "dim"),
                (f"  {shown.get('java')}" if value is not None else "", "dim"),
            )
        case FieldNode(field=field):
            return Text.assemble((f".{field}", "green"), (f"  {node.type}", "dim"))
        case DynamicNode(id=name):
            return Text.assemble((f"value of {name}, known at run time only", "magenta"), (f"  {node.type}", "dim"))
        case _:
            return Text(type(node).__name__)


def expression_tree(expression: ex.HudiExpression) -> Tree:
    """The HudiExpression down to its leaves, each leaf as text; what is not supported in magenta."""
    root: ex.Node = expression
    return draw_tree(root, _label, _children)


def _children(node: ex.Node) -> tuple[ex.Node, ...]:
    return ex.children_of(node) if isinstance(node, ex.And | ex.Or | ex.Not) else ()


def _label(node: ex.Node) -> Text:
    match node:
        case ex.And() | ex.Or() | ex.Not():
            return Text(type(node).__name__.upper(), style="bold")
        case _:
            unknown = any(isinstance(part, ex.Unknown | ex.Opaque) for part in ex.walk(node))
            return Text(ex.to_text(node), style="magenta" if unknown else "")
