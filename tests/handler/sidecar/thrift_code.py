"""The code that the compiler of Apache Thrift writes from ``handler/sargo.thrift``: write it anew, or compare it.

    python -m tests.handler.sidecar.thrift_code            # writes handler/sidecar/sargo_thrift (make thrift)
    python -m tests.handler.sidecar.thrift_code --check    # ends with 1 when it is not current (make lint)

The compiler is Debian's package ``thrift-compiler``. Another version writes other code, so a comparison is made with
the version that the files name; without it they are not compared.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IDL = Path(__file__).parents[3] / "handler/sargo.thrift"
FOLDER = IDL.parent / "sidecar/sargo_thrift"
_VERSION = re.compile(r"Thrift (?:Compiler \(|version )([\d.]+)")


def missing() -> str:
    """Why nothing can be compared here, or ""."""
    if shutil.which("thrift") is None:
        return "there is no Thrift compiler (Debian's package thrift-compiler)"
    here = subprocess.run(["thrift", "--version"], capture_output=True, text=True, check=True).stdout
    versions = [_VERSION.findall(text)[0] for text in (here, (FOLDER / "ttypes.py").read_text("utf-8"))]
    return "" if len(set(versions)) == 1 else f"the Thrift compiler is {versions[0]}, the code is of {versions[1]}"


def generated() -> dict[str, str]:
    """What the compiler writes, by the file's name."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["thrift", "--gen", "py:slots", "-out", folder, str(IDL)], check=True)
        return {path.name: path.read_text("utf-8") for path in Path(folder, FOLDER.name).glob("*.py")}


def checked_in() -> dict[str, str]:
    """What stands in the repository, by the file's name."""
    return {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.py")}


def main(check: bool) -> int:
    """Write or compare; the exit code."""
    if check:
        if why := missing():
            print(f"sargo.thrift: the generated code is not compared: {why}")
            return 0
        if generated() == checked_in():
            print("sargo.thrift: the generated code is current")
            return 0
        print("sargo.thrift: the generated code is not current: make thrift")
        return 1
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
