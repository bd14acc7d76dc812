"""Parses SQL text: the condition after WHERE, in the dialect of Hive or of Spark, as a HudiExpression.

    text  ──►  sqlglot's tree  ──►  ``conditions`` and ``operands``  ──►  HudiExpression

Valid SQL that is not understood becomes ``Unknown`` or ``Opaque`` at its node only (C1). Invalid SQL raises
``SqlError``. Columns have no types yet: ``evaluator.binding.bind`` resolves names and types.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from evaluator.language.errors import SargoError
from evaluator.language.expanded_size import expanded_size
from evaluator.language.expression import HudiExpression
from handler.sql.conditions import condition, is_condition
from handler.sql.dialects import Engine, dialect_of
from handler.sql.literals import LiteralError

__all__ = ["Engine", "SqlError", "excerpt", "parse"]

#: Python frames that a deep filter may use: enough for about 1,500 nested parentheses.
_MAX_FRAMES = 40_000
_STACK_BYTES = 512 << 20
_MAX_CHARACTERS = 16 << 20
#: Nodes when every operand that stands several times in the tree, as that of nullif, is written out each time.
_MAX_NODES = 4_000_000


def excerpt(text: str) -> str:
    """The start of a condition in one line of at most 80 characters, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."


class SqlError(SargoError):
    """``text`` is not a condition of the dialect. ``why`` is the reason, ``position`` the (line, column) if known."""

    def __init__(self, text: str, why: str, position: tuple[int, int] | None = None) -> None:
        where = f" at line {position[0]}, column {position[1]}" if position else ""
        super().__init__(f"cannot read the condition{where}: {why} (in: {excerpt(text)})")
        self.text = text
        self.why = why
        self.position = position


def parse(text: str, engine: Engine) -> HudiExpression:
    """The HudiExpression of one condition, read as ``engine`` ("hive", "spark-ansi", ...) reads it.

    Raises SqlError when the text is not one condition, ValueError for an engine that is not known.

    >>> print(parse("a < 5 AND s LIKE 'x%' OR b = (SELECT 1)", "spark"))
    ((a < 5 AND s LIKE 'x%') OR b = ?(a subquery is not decided))
    """
    if len(text) > _MAX_CHARACTERS:
        raise SqlError(text, f"the condition is longer than {_MAX_CHARACTERS >> 20} Mi characters")
    try:
        return _parse(text, engine)
    except RecursionError:
        pass
    try:
        return _with_deep_stack(lambda: _parse(text, engine))
    except RecursionError:
        raise SqlError(text, "the filter is nested too deeply") from None


def _parse(text: str, engine: Engine) -> HudiExpression:
    dialect = dialect_of(engine)
    try:
        trees = dialect.parser().parse_into(exp.Condition, dialect.tokenize(text), text)
    except TokenError:
        raise SqlError(text, "a quote or a comment is not closed") from None
    except ParseError as error:
        raise _syntax_error(text, error) from None
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise SqlError(text, "one condition is expected, such as a < 5 AND s = 'x'")
    if not is_condition(tree):
        raise SqlError(text, "this is a value, not a condition")
    try:
        expression = condition(tree)
    except LiteralError as error:
        raise SqlError(text, str(error)) from None
    if expanded_size(expression) > _MAX_NODES:
        raise SqlError(text, f"the filter expands to more than {_MAX_NODES} parts")
    return expression


def _syntax_error(text: str, error: ParseError) -> SqlError:
    if text.lstrip().lower().startswith(("select ", "select\n", "with ")):
        return SqlError(text, "give only the condition that stands after WHERE, not a whole query")
    if not error.errors:
        return SqlError(text, " ".join(str(error).split()))
    first = error.errors[0]
    near = first.get("highlight") or ""
    why = _plain(str(first.get("description")), near)
    if near and near not in why:
        why += f" near {near!r}"
    return SqlError(text, why, (int(first["line"] or 1), int(first["col"] or 1)))


def _plain(description: str, near: str) -> str:
    if "Unexpected token" in description:
        return f"unexpected {near!r}"
    if description.startswith("Required keyword"):
        return "an operand is missing"
    return description[:1].lower() + description[1:]


def _with_deep_stack(work: Callable[[], HudiExpression]) -> HudiExpression:
    """Run ``work`` in a thread with a large stack, because sqlglot's parser is recursive."""
    results: list[HudiExpression] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(max(limit, _MAX_FRAMES))
    try:
        thread = threading.Thread(target=run, name="sargo-deep-filter")
        try:
            thread.start()
        except RuntimeError:  # the system has no memory for such a stack
            raise RecursionError from None
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(stack)
    if errors:
        raise errors[0]
    return results[0]
