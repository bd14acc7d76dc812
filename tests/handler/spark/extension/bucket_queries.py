"""Queries over tables with buckets, each with the exchanges and the scans by buckets that its plan has.

facts    200 rows, 8 buckets       logs    120 rows with log files, 8 buckets     parts   two partitions of 8 buckets
four     100 rows, 4 buckets       tiny    3 rows in 8 buckets                    plain   130 rows that are no table
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["KEYS", "QUERIES", "REFUSED"]

#: Tables of rows with all types -> the record key. The last is hashed in the order of the key.
KEYS = {
    "ints": "l",
    "texts": "u",
    "dates": "d",
    "decimals": "e",
    "typed": "u,i,l,t,d,m,e",
    "nulls": "n,v,id",
}

_ON = {name: " AND ".join(f"x.{one} = y.{one}" for one in key.split(",")) for name, key in KEYS.items()}

#: Story -> ((exchanges, scans by buckets), the query).
QUERIES: Mapping[str, tuple[tuple[int, int], str]] = {
    "COW joins MOR with log files": ((0, 2), "SELECT f.id, f.i, g.i j FROM facts f JOIN logs g ON f.id = g.id"),
    "group": ((0, 1), "SELECT id, count(*), max(i) FROM logs GROUP BY id"),
    "group by more than the key": ((0, 1), "SELECT p, id, sum(i) FROM logs GROUP BY p, id"),
    "distinct": ((0, 1), "SELECT DISTINCT id FROM parts"),
    "window": ((0, 1), "SELECT id, i, row_number() OVER (PARTITION BY id ORDER BY i) FROM logs"),
    "buckets are missing": ((0, 2), "SELECT f.id, f.i FROM facts f JOIN tiny t ON f.id = t.id"),
    "pruned": ((0, 2), "SELECT f.id FROM facts f JOIN logs g ON f.id = g.id WHERE f.id = 'k7' AND g.i >= 0"),
    "partitions": ((0, 2), "SELECT f.id, q.p FROM facts f JOIN parts q ON f.id = q.id WHERE q.p = 'p1' AND f.i < 100"),
    "three tables": (
        (0, 3),
        "SELECT f.id, g.i, q.p FROM facts f JOIN logs g ON f.id = g.id LEFT JOIN parts q ON q.id = g.id",
    ),
    "a join that is grouped": (
        (0, 2),
        "SELECT f.id, count(*) FROM facts f JOIN logs g ON f.id = g.id GROUP BY f.id",
    ),
    "left join": ((0, 2), "SELECT f.id, t.i FROM facts f LEFT JOIN tiny t ON f.id = t.id"),
    "right join": ((0, 2), "SELECT f.id, t.i FROM tiny t RIGHT JOIN facts f ON f.id = t.id"),
    "full join": ((0, 2), "SELECT f.id, g.id FROM tiny f FULL JOIN logs g ON f.id = g.id"),
    "semi join": ((0, 2), "SELECT id FROM facts WHERE id IN (SELECT id FROM logs)"),
    "anti join": ((0, 2), "SELECT x.id FROM facts x WHERE NOT EXISTS (SELECT 1 FROM logs y WHERE y.id = x.id)"),
    "existence join": (
        (0, 2),
        "SELECT x.id, x.i FROM facts x WHERE x.i < 20 OR EXISTS (SELECT 1 FROM logs y WHERE y.id = x.id)",
    ),
    "another condition": ((0, 2), "SELECT f.id FROM facts f JOIN logs g ON f.id = g.id AND f.i < g.i"),
    "more keys than the bucket's": ((0, 2), "SELECT f.id FROM facts f JOIN parts q ON f.id = q.id AND f.p = q.p"),
    "itself": ((0, 2), "SELECT x.id, y.i FROM logs x JOIN logs y ON x.id = y.id"),
    "renamed": ((0, 2), "SELECT * FROM (SELECT id a FROM facts) JOIN (SELECT id b FROM logs) ON a = b"),
    "8 buckets join 4": ((0, 2), "SELECT f.id, x.i FROM facts f JOIN four x ON f.id = x.id"),
    "a table without buckets is shuffled": ((1, 1), "SELECT f.id, x.i FROM facts f JOIN plain x ON f.id = x.id"),
    "left join of a table without buckets": ((1, 1), "SELECT x.id, f.i FROM plain x LEFT JOIN facts f ON f.id = x.id"),
    "full join with a table without buckets": (
        (1, 1),
        "SELECT x.id, f.i FROM plain x FULL JOIN facts f ON f.id = x.id",
    ),
    "a group joins": (
        (0, 2),
        "SELECT f.i, g.n FROM facts f JOIN (SELECT id, count(*) n FROM logs GROUP BY id) g ON f.id = g.id",
    ),
    **{
        f"keys of {name}": ((0, 2), f"SELECT x.id, y.l FROM {name} x JOIN {name} y ON {on}") for name, on in _ON.items()
    },
    "rows of upsert join rows of bulk_insert": ((0, 2), f"SELECT x.id FROM typed x JOIN bulk y ON {_ON['typed']}"),
    "NULL keys are one group": ((0, 1), "SELECT n, v, id, count(*) FROM nulls GROUP BY n, v, id"),
    "a table of several keys is shuffled to": (
        (1, 1),
        "SELECT x.id FROM nulls x JOIN (SELECT n, v, id FROM typed) y ON x.n = y.n AND x.v = y.v AND x.id = y.id",
    ),
}

#: Queries without a scan by buckets, and how many exchanges they have.
REFUSED: Mapping[str, tuple[tuple[int, int], str]] = {
    "the key is not joined": ((2, 0), "SELECT f.id FROM facts f JOIN logs g ON f.i = g.i"),
    "nothing is joined": ((0, 0), "SELECT id FROM facts WHERE i < 10"),
    "the group lacks the key": ((1, 0), "SELECT i, count(*) FROM facts GROUP BY i"),
    "a part of the key": ((1, 0), "SELECT n, count(*) FROM nulls GROUP BY n"),
    "consistent hashing": ((1, 0), "SELECT id, count(*) FROM ring GROUP BY id"),
    "numbers by partition": ((1, 0), "SELECT id, count(*) FROM by_rule GROUP BY id"),
    "another number than the table's": ((1, 0), "SELECT id, count(*) FROM wrong_number GROUP BY id"),
    "options tell of no buckets": ((1, 0), "SELECT id, count(*) FROM untold GROUP BY id"),
    "a type without a certain text": ((1, 0), "SELECT f, count(*) FROM doubles GROUP BY f"),
}
