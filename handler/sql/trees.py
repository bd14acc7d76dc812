"""Reads the text of any condition by sqlglot's tree of it.

text  ──►  tokens  ──►  sqlglot's tree  ──►  ``conditions`` and ``operands``  ──►  HudiExpression
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from decimal import InvalidOperation
from itertools import pairwise

from sqlglot import TokenType, exp
from sqlglot.dialects.hive import Hive
from sqlglot.errors import ParseError, TokenError

from evaluator.language.expanded_size import expanded_size
from handler.sql.columns import columns_of, drop_leading_parts
from handler.sql.conditions import condition, is_condition
from handler.sql.dialects import dialect_of
from handler.sql.engines import Engine
from handler.sql.literals import LiteralError, check_number
from handler.sql.results import ParsedCondition, SqlError, excerpt

__all__ = ["read_tree"]

#: Python frames that a deep filter may use: enough for about 1,500 nested parentheses.
_MAX_FRAMES = 40_000
_STACK_BYTES = 512 << 20
#: Nodes when every operand that stands several times in the tree, as that of nullif, is written out each time.
_MAX_NODES = 4_000_000
#: The words before a literal of a moment.
_MOMENTS = {TokenType[name] for name in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "TIMESTAMPLTZ")}
_DEEP_STACK = threading.Lock()


def read_tree(text: str, engine: Engine, leading: Mapping[str, int]) -> ParsedCondition:
    """The condition, however deep it nests. Raises SqlError, and nothing else."""
    dialect = dialect_of(engine)
    try:
        return _read(text, dialect, leading)
    except RecursionError:
        pass
    try:
        return _with_deep_stack(lambda: _read(text, dialect, leading))
    except RecursionError:
        raise SqlError(text, "the filter is nested too deeply") from None


def _read(text: str, dialect: Hive, leading: Mapping[str, int]) -> ParsedCondition:
    """Tokens, tree and translation. The one place in which a failure of any of them becomes an SqlError.

    Raises SqlError, and RecursionError when the stack is too small.
    """
    try:
        return _translated(text, dialect, leading)
    except (SqlError, RecursionError):
        raise
    except LiteralError as error:
        raise SqlError(text, str(error)) from None
    except ParseError as error:
        if _is_too_deep(error):
            raise RecursionError from None
        raise _syntax_error(text, error) from None
    except TokenError as error:
        if _is_too_deep(error):
            raise RecursionError from None
        unclosed = "Missing" in str(error.__cause__ or error)
        raise SqlError(text, "a quote or a comment is not closed" if unclosed else "it is not SQL") from None
    except InvalidOperation:  # sqlglot takes another word before BD for a number
        raise SqlError(text, "the suffix BD stands behind what is no number") from None
    except Exception as error:
        if _is_too_deep(error):
            raise RecursionError from None
        raise SqlError(text, f"it cannot be read ({type(error).__name__}: {excerpt(str(error))})") from error


def _is_too_deep(error: BaseException) -> bool:
    """Whether the stack was too small: sqlglot raises errors of its own from a RecursionError."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, RecursionError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _translated(text: str, dialect: Hive, leading: Mapping[str, int]) -> ParsedCondition:
    tokens = dialect.tokenize(text)
    if not tokens:
        raise SqlError(
            text, "the text is empty, one condition is expected, such as a < 5 AND s = 'x' (TRUE for all rows)"
        )
    for token in tokens:
        if token.token_type is TokenType.NUMBER:
            check_number(token.text)
    for keyword, value in pairwise(tokens):
        if keyword.token_type in _MOMENTS and value.token_type is TokenType.NUMBER:
            name = keyword.text.upper()
            example = "2026-01-31" if name == "DATE" else "2026-01-31 12:00:00"
            why = f"the value after {name} stands in quotes: {name} '{example}'"
            raise SqlError(text, why, (value.line, value.col))
    trees = dialect.parser().parse_into(exp.Condition, tokens, text)
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise SqlError(text, "one condition is expected, such as a < 5 AND s = 'x'")
    if not is_condition(tree):
        raise SqlError(text, "this is a value, not a condition")
    if leading:
        drop_leading_parts(tree, leading)
    expression = condition(tree)
    if expanded_size(expression) > _MAX_NODES:
        raise SqlError(text, f"the filter expands to more than {_MAX_NODES} parts")
    return ParsedCondition(expression, columns_of(tree))


def _syntax_error(text: str, error: ParseError) -> SqlError:
    if text.lstrip().lower().startswith(("select ", "select\n", "with ")):
        return SqlError(text, "give only the condition that stands after WHERE, not a whole query")
    if not error.errors:
        return SqlError(text, excerpt(str(error)))
    first = error.errors[0]
    near = excerpt(first.get("highlight") or "")
    why = _plain(str(first.get("description")), near)
    if near and near not in why:
        why += f" near '{near}'"
    return SqlError(text, why, (int(first["line"] or 1), int(first["col"] or 1)))


def _plain(description: str, near: str) -> str:
    if "Unexpected token" in description:
        return f"unexpected '{near}'"
    if description.startswith("Required keyword"):
        return "an operand is missing"
    return excerpt(description[:1].lower() + description[1:])


def _with_deep_stack(work: Callable[[], ParsedCondition]) -> ParsedCondition:
    """Run ``work`` in a thread with a large stack, because sqlglot's parser is recursive."""
    results: list[ParsedCondition] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    with _DEEP_STACK:  # both limits are those of the process
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
