"""The columns that a condition names, also those in parts that are not decided: so a misspelt one is found.

a[0] = 1 AND nope > 2        a, nope
exists(xs, x -> x > low)     xs           a parameter of a lambda is no column, so none is looked for inside
a IN (SELECT b FROM t)       a            columns of a subquery are those of other tables
dateadd(DAY, 1, d)           d            a unit is no column
current_timestamp            none         a function without parentheses
"""

from __future__ import annotations

from sqlglot import exp

__all__ = ["columns_of"]

#: Functions whose first argument may be a unit.
_WITH_UNIT = frozenset(["dateadd", "date_add", "datediff", "date_diff", "timestampadd", "timestampdiff", "timediff"])
#: Functions that Spark and Hive also take without parentheses, where no column has the name.
_WITHOUT_PARENTHESES = frozenset(
    (
        *("current_catalog", "current_database", "current_date", "current_schema", "current_time"),
        *("current_timestamp", "current_user", "grouping__id", "localtimestamp", "session_user", "user"),
    )
)


def columns_of(tree: exp.Expr) -> tuple[str, ...]:
    """The columns by dotted name, each once, in order of appearance; found without recursion."""
    columns: dict[str, None] = {}
    stack: list[exp.Expr] = [tree]
    while stack:
        node = stack.pop()
        name = _dotted_name(node)
        if name is not None:
            if name.lower() not in _WITHOUT_PARENTHESES:
                columns.setdefault(name)
            continue
        if isinstance(node, exp.Query | exp.Subquery | exp.Lambda | exp.DataType | exp.Interval | exp.Star | exp.Kwarg):
            continue
        children = list(node.iter_expressions())
        if isinstance(node, exp.Anonymous) and node.name.lower() in _WITH_UNIT and len(children) == 3:
            children = children[1:]
        stack.extend(reversed(children))
    return tuple(columns)


def _dotted_name(node: exp.Expr) -> str | None:
    """The name of a column or of a field below one; None for another node."""
    fields: list[str] = []
    while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        fields.append(node.expression.name)
        node = node.this
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    return ".".join([*(part.name for part in node.parts), *reversed(fields)])
