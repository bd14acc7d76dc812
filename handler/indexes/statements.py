"""SQL statements about own indexes: parsed to an action, an index and a table.

    CREATE INDEX [IF NOT EXISTS] name ON [TABLE] 'path' USING bloom_filter(city), min_max(ts) [OPTIONS (fpp = 0.01)]
    CREATE INDEX [IF NOT EXISTS] name ON [TABLE] 'path' [USING secondary_index] (city, rider)
    REFRESH INDEX name ON [TABLE] 'path' [FULL]
    OPTIMIZE | VACUUM INDEX name ON [TABLE] 'path'
    DROP INDEX [IF EXISTS] name ON [TABLE] 'path'
    SHOW INDEXES FROM [TABLE] 'path'

The forms are those of Hudi (RFC-77), with the path of a table in quotes in place of a name in a catalog. sqlglot parses
the first form only, and no options of a sketch in it, so the grammar is implemented here. Options are passed to the
sketches; the option ``path`` names the folder of the index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, field
from typing import NoReturn

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from index_store.own.definition import SECONDARY_INDEX

__all__ = ["IndexStatement", "StatementError", "parse_statement"]

_TOKEN = re.compile(
    r"""\s+ | --[^\n]* | (?P<text> '(?:[^'\\]|''|\\.)*' | "(?:[^"\\]|""|\\.)*")
                        | (?P<quoted> `(?:[^`]|``)*`) | (?P<word> [\w.+-]+) | (?P<sign> .)""",
    re.VERBOSE | re.DOTALL,
)
_FORMS = {
    "CREATE": "CREATE INDEX name ON TABLE '<path>' USING bloom_filter(column)",
    "DROP": "DROP INDEX name ON TABLE '<path>'",
    "SHOW": "SHOW INDEXES FROM TABLE '<path>'",
    "REFRESH": "REFRESH INDEX name ON TABLE '<path>'",
    "OPTIMIZE": "OPTIMIZE INDEX name ON TABLE '<path>'",
    "VACUUM": "VACUUM INDEX name ON TABLE '<path>'",
}


class StatementError(SargoError):
    """``text`` is not a statement about an index; ``why`` says what was expected where."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"cannot read the statement: {why}")
        self.text = text
        self.why = why


@frozen
class IndexStatement:
    """``action`` is create, refresh, optimize, vacuum, drop or list; ``table`` a path.

    uses        of create: pairs of a column or expression, and the name of a sketch or kind
    options     of create, by lower-case name
    if_needed   IF NOT EXISTS of create, IF EXISTS of drop
    full        of refresh: every file is built again
    """

    action: str
    table: str
    name: str = ""
    uses: tuple[tuple[str, str], ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    _: KW_ONLY
    if_needed: bool = False
    full: bool = False


def parse_statement(text: str) -> IndexStatement:
    """Read one statement, with or without a semicolon at its end. Raises StatementError."""
    return _Parser(text).statement()


class _Parser:
    """The tokens of a statement, and the position of the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup]
        self.position = 0

    def statement(self) -> IndexStatement:
        first = self._word("one of " + ", ".join(_FORMS))
        verb = first.upper()
        if verb not in _FORMS:
            self._fail(f"{first} begins no statement about an index: " + "; ".join(_FORMS.values()))
        statement = self._show() if verb == "SHOW" else self._about_one(verb)
        self._accept(";")
        if self.position < len(self.tokens):
            self._fail(f"nothing was expected at {self._shown()}: {_FORMS[verb]}")
        return statement

    def _show(self) -> IndexStatement:
        if not (self._accept("INDEXES") or self._accept("INDEX")):
            self._fail(f"INDEXES was expected at {self._shown()}: {_FORMS['SHOW']}")
        if not (self._accept("FROM") or self._accept("ON") or self._accept("IN")):
            self._fail(f"FROM was expected at {self._shown()}: {_FORMS['SHOW']}")
        return IndexStatement("list", self._table("SHOW"))

    def _about_one(self, verb: str) -> IndexStatement:
        self._expect("INDEX", verb)
        if_needed = self._accept("IF")
        if if_needed:
            if verb not in ("CREATE", "DROP"):
                self._fail(f"IF has no meaning in {verb} INDEX")
            if verb == "CREATE":
                self._expect("NOT", verb)
            self._expect("EXISTS", verb)
        name = self._word(f"the name of the index: {_FORMS[verb]}")
        self._expect("ON", verb)
        table = self._table(verb)
        if verb != "CREATE":
            return IndexStatement(
                verb.lower(), table, name, if_needed=if_needed, full=verb == "REFRESH" and self._accept("FULL")
            )
        if self._accept("("):
            uses = self._columns(SECONDARY_INDEX)
        else:
            self._expect("USING", verb)
            uses = self._use()
        while self._accept(","):
            uses += self._use()
        return IndexStatement("create", table, name, uses, self._options(), if_needed=if_needed)

    def _table(self, verb: str) -> str:
        self._accept("TABLE")
        token = self._next()
        if token is None or token.lastgroup != "text":
            self.position -= token is not None
            self._fail(
                f"the path of a table was expected in quotes at {self._shown()} (there is no catalog here): "
                f"{_FORMS[verb]}"
            )
        return _unquoted(token[0])

    def _use(self) -> tuple[tuple[str, str], ...]:
        kind = self._word("the name of a sketch, such as bloom_filter(city)").lower()
        if not self._accept("("):
            self._fail(f"( and a column were expected at {self._shown()}: {kind}(city)")
        return self._columns(kind)

    def _columns(self, kind: str) -> tuple[tuple[str, str], ...]:
        """The columns up to the closing parenthesis."""
        columns: list[str] = []
        start, depth = self._offset(), 0
        while True:
            token = self._next()
            if token is None:
                self._fail(f") was expected at the end: {kind}(city)")
            if depth == 0 and token[0] in (",", ")"):
                on = self.text[start : token.start()].strip()
                if not on:
                    self._fail(f"a column was expected before {token[0]}: {kind}(city)")
                columns.append(_unquoted(on) if re.fullmatch(r"`(?:[^`]|``)*`", on) else on)
                start = self._offset()
                if token[0] == ")":
                    return tuple((column, kind) for column in columns)
            depth += (token[0] == "(") - (token[0] == ")")

    def _options(self) -> dict[str, str]:
        options: dict[str, str] = {}
        if not (self._accept("OPTIONS") or self._accept("WITH")):
            return options
        self._expect("(", "CREATE")
        while True:
            name = self._word("the name of an option").lower()
            self._expect("=", "CREATE")
            if name in options:
                self._fail(f"option {name} is given twice")
            options[name] = self._word(f"the value of {name}")
            if self._accept(")"):
                return options
            if not self._accept(","):
                self._fail(f", or ) was expected at {self._shown()}")

    # -- tokens

    def _next(self) -> re.Match[str] | None:
        if self.position == len(self.tokens):
            return None
        self.position += 1
        return self.tokens[self.position - 1]

    def _word(self, what: str) -> str:
        """The next word, or text in quotes of any kind."""
        token = self._next()
        if token is None or token.lastgroup == "sign":
            self.position -= token is not None
            self._fail(f"{what} was expected at {self._shown()}")
        return token[0] if token.lastgroup == "word" else _unquoted(token[0])

    def _accept(self, word: str) -> bool:
        """Whether the next token is this word; then it is consumed."""
        accepted = self.position < len(self.tokens) and self.tokens[self.position][0].upper() == word
        self.position += accepted
        return accepted

    def _expect(self, word: str, verb: str) -> None:
        if not self._accept(word):
            self._fail(f"{word} was expected at {self._shown()}: {_FORMS[verb]}")

    def _offset(self) -> int:
        """The offset in the text after the last token."""
        return self.tokens[self.position - 1].end()

    def _shown(self) -> str:
        return repr(self.tokens[self.position][0]) if self.position < len(self.tokens) else "the end"

    def _fail(self, why: str) -> NoReturn:
        raise StatementError(self.text, why)


def _unquoted(token: str) -> str:
    quote, inside = token[0], token[1:-1]
    if quote == "`":
        return inside.replace("``", "`")
    return re.sub(rf"\\(.)|{quote}{quote}", lambda match: match[1] or quote, inside, flags=re.DOTALL)
