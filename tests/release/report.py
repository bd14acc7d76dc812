"""What the artefacts weigh, what each environment holds, and how long pip took, as text."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.release.building import Artefacts
from tests.release.trying import Trial

__all__ = ["report"]

_MB = 1_000_000


def report(artefacts: Artefacts, trials: Sequence[Trial], missing: Sequence[str]) -> str:
    """The sizes and digests of the artefacts, the environments, and the packages that the wheel brings along."""
    lines = ["Artefacts (built twice, the same bytes)"]
    for path in (artefacts.wheel, artefacts.sdist, *artefacts.jars):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f"  {path.name:<34} {path.stat().st_size / _MB:6.2f} MB  sha256 {digest}")
    lines += ["", "In the wheel, uncompressed", *_parts(artefacts.wheel)]
    lines += ["", "Environments                        packages      size   pip"]
    for one in trials:
        name = f"Python {one.python:<5} {one.what}" + (f"[{one.extra}]" if one.extra else "")
        lines.append(f"  {name:<33} {len(one.packages):>8} {one.nbytes / _MB:6.0f} MB {one.seconds:4.0f} s")
    lines += [f"  Python {version:<5} is not here" for version in missing]
    lines += ["", "Packages that the wheel needs, without extras"]
    base = next(one for one in trials if not one.extra)
    for package, (version, size) in sorted(base.packages.items(), key=lambda item: -item[1][1]):
        lines.append(f"  {package:<24} {version:<12} {size / _MB:6.1f} MB")
    for one in trials:
        added = {name: facts for name, facts in one.packages.items() if name not in base.packages}
        if one.extra:
            names = ", ".join(f"{name} {version}" for name, (version, _) in sorted(added.items()))
            size = sum(size for _, size in added.values())
            lines.append(f"  [{one.extra}] adds {size / _MB:.0f} MB: {names or 'nothing'}")
    return "\n".join(lines) + "\n"


def _parts(wheel: Path) -> list[str]:
    sizes: dict[str, int] = {}
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            top = (
                "/".join(entry.filename.split("/")[:2]) if "shipped" in entry.filename else entry.filename.split("/")[0]
            )
            sizes[top] = sizes.get(top, 0) + entry.file_size
    return [f"  {name:<34} {size / _MB:6.2f} MB" for name, size in sorted(sizes.items(), key=lambda item: -item[1])]
