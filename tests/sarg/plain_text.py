"""An expression as one line, with literals in the evaluator's value form.

``to_text`` shows ``dt = DATE '2020-01-02'``. This text is ``dt = 18263``: a test sees the value that is compared.
A condition that is compared with TRUE stands in brackets: ``[a > 1]``.
"""

from evaluator.language import expression as ex
from evaluator.language.construction import condition_compared

JOINERS = {ex.And: " AND ", ex.Or: " OR "}


def plain_text(expression):
    return ex.fold(expression, _node_text)


def _node_text(node, parts):
    match node:
        case ex.And() | ex.Or():
            return "(" + JOINERS[type(node)].join(parts) + ")"
        case ex.Not():
            return f"NOT {parts[0]}"
        case ex.Compare() if (condition := condition_compared(node)) is not None:
            return f"[{plain_text(condition)}]"
        case ex.Compare(op=op):
            return f"{parts[0]} {op} {parts[1]}"
        case ex.In():
            return f"{parts[0]} IN ({', '.join(parts[1:])})"
        case ex.IsNull():
            return f"{parts[0]} IS NULL"
        case ex.Like(pattern=pattern):
            return f"{parts[0]} LIKE {pattern!r}"
        case ex.Unknown(reason=reason) | ex.Opaque(reason=reason):
            return f"?({reason})"
        case ex.Constant(value=None) | ex.Literal(value=None):
            return "NULL"
        case ex.Constant(value=value):
            return str(value).upper()
        case ex.Literal(value=value):
            return repr(value) if isinstance(value, str) else str(value)
        case ex.Column():
            return node.name
        case ex.Cast(type=to):
            return f"CAST({parts[0]} AS {to})"
        case ex.If():
            return f"if({', '.join(parts)})"
        case ex.Call(function=name):
            return f"({parts[0]} {name} {parts[1]})" if name in "+-*/%" else f"{name}({', '.join(parts)})"
