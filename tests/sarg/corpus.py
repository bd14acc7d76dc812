"""The filters of ``data/``, read once."""

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
    found = [r for r in records(version) if r["sql"] == sql and folded in (None, r["folded"])]
    found = found or [r for r in records(version) if r["sql"] == sql]
    assert found, f"{version} has no {sql}"
    return found[-1]


def tree_of(node, version):
    """``to_dict`` in the words of the corpus: the 2.3.10 trees do not tell ``isList``."""
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
