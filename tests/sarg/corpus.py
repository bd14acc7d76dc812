"""The filters of ``data/`` (tests/sarg/data/README.md), read once: what real Hive versions wrote for a condition."""

import functools
import hashlib
import json
import lzma
from pathlib import Path

DATA = Path(__file__).parent / "data"
VERSIONS = ("2.3.10", "3.1.3", "4.0.1", "4.1.0", "4.2.0")


@functools.cache
def records(version):
    return json.loads(lzma.decompress((DATA / f"hive_{version}.json.xz").read_bytes()))


def record(version, sql, folded=None):
    """The record of a condition; ``folded`` chooses between the raw and the folded form where both are kept."""
    of_condition = [r for r in records(version) if r["sql"] == sql]
    of_form = [r for r in of_condition if folded in (None, r["folded"])]
    assert of_condition, f"{version} has no {sql}"
    return (of_form or of_condition)[-1]


def tree_of(node, version):
    """``to_dict`` as the corpus has it: the trees of 2.3.10 have no ``isList``."""
    tree = node.to_dict()
    if version == "2.3.10":
        drop_is_list(tree)
    return tree


def drop_is_list(tree):
    stack = [tree]
    while stack:
        node = stack.pop()
        node.pop("isList", None)
        stack.extend(node.get("children", []))
        stack.extend([node["of"]] if "of" in node else [])


def digest(tree):
    return hashlib.sha256(json.dumps(tree, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
