"""``trips_table`` of RFC-77: the entries of its base file and of its log file, and what they are merged to, literally.

In the RFC an entry does not say where its row is; here each record key has a file group added, as the table would have.
"""

from __future__ import annotations

import re

BASE = """
chennai -> c8abbe79-8d89-47ea-b4ce-4d224bae5bfa
los-angeles -> 9909a8b1-2d15-4d3d-8ec9-efc48c536a01
los-angeles -> 9809a8b1-2d15-4d3d-8ec9-efc48c536a01
sfo -> 334e26e9-8355-45cc-97c6-c31daf0df330
sfo -> 334e26e9-8355-45cc-97c6-c31daf0df329
"""
LOG = """
sfo -> (334e26e9-8355-45cc-97c6-c31daf0df329, deleted)
chennai -> e3cf430c-889d-4015-bc98-59bdce1e530c
los-angeles -> (9809a8b1-2d15-4d3d-8ec9-efc48c536a01, deleted)
austin -> 9809a8b1-2d15-4d3d-8ec9-efc48c536a01
"""
MERGED = """
austin -> 9809a8b1-2d15-4d3d-8ec9-efc48c536a01
chennai -> e3cf430c-889d-4015-bc98-59bdce1e530c
chennai -> c8abbe79-8d89-47ea-b4ce-4d224bae5bfa
los-angeles -> 9909a8b1-2d15-4d3d-8ec9-efc48c536a01
sfo -> 334e26e9-8355-45cc-97c6-c31daf0df330
"""
GROUPS = {
    "c8abbe79-8d89-47ea-b4ce-4d224bae5bfa": 0,
    "e3cf430c-889d-4015-bc98-59bdce1e530c": 0,
    "9909a8b1-2d15-4d3d-8ec9-efc48c536a01": 1,
    "9809a8b1-2d15-4d3d-8ec9-efc48c536a01": 2,
    "334e26e9-8355-45cc-97c6-c31daf0df330": 3,
    "334e26e9-8355-45cc-97c6-c31daf0df329": 3,
}
_LINE = re.compile(r"(\S+) -> \(?([0-9a-f-]+)(, deleted\))?")


def entries_in(text: str) -> list[tuple[str, str, int, bool]]:
    """City, uuid, file group and whether it is a tombstone, of each line."""
    found = [_LINE.fullmatch(line) for line in text.strip().splitlines()]
    assert all(found)
    return [(match[1], match[2], GROUPS[match[2]], bool(match[3])) for match in found if match]
