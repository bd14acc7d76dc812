"""What Hive makes of conditions over functions that are NULL of some values: ``tests.evaluator.predicate_grid``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.evaluator.predicate_grid import ROWS, TABLE, conditions
from tests.hive.grids.asking import LETTERS, Session, answers
from tests.hive.grids.edges import make
from tests.hive.grids.functions import BATCHES
from tests.hive.server import HIVE_4, Server

#: One condition that has no vectorized form makes a whole SELECT run row by row.
_AT_ONCE = {"": 160, " batch": 6}


def ask(server: Server, home: Path) -> Iterator[dict[str, dict[str, str]]]:
    """Engine -> condition -> letters, as far as they are known."""
    name = "hive4" if server.stack is HIVE_4 else "hive3"
    columns = {column: of for column, (of, _) in TABLE.items()}
    rows = [{column: texts[number] for column, (_, texts) in TABLE.items()} for number in range(ROWS)]
    session = Session(server)
    make(session, home, "predicates", columns, rows)
    typed = ", ".join(f"{column} {of}" for column, of in columns.items())
    session.rows("DROP TABLE IF EXISTS predicates_parquet")
    session.rows(
        f"CREATE EXTERNAL TABLE predicates_parquet (n int, {typed}) STORED AS PARQUET LOCATION 'file://{home}/parquet'"
    )
    session.rows("INSERT INTO predicates_parquet SELECT * FROM predicates")
    session.close()
    result: dict[str, dict[str, str]] = {}
    asked = list(conditions())
    for mode, table, settings in (("", "predicates", {}), (" batch", "predicates_parquet", BATCHES)):
        engine = name + mode
        session = Session(server, settings)
        found = answers(session, table, "n", asked, _AT_ONCE[mode])
        session.close()
        result[engine] = {
            sql: "".join(by_row[number] for number in range(ROWS))
            for sql, by_row in found.items()
            if not isinstance(by_row, str) and set(by_row.values()) <= set(LETTERS.values())
        }
        print(f"{engine}: {len(result[engine])} of {len(asked)} conditions", flush=True)
        yield result
