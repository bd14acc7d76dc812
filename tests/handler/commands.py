"""The command line in a test: run a command, and read what it printed."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner

from handler.cli.main import main


def run(*arguments: object, code: int = 0) -> str:
    """What it printed, on stderr if it is to end with another code than 0."""
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == code, result.output + result.stderr
    return result.stdout if code == 0 else result.stderr


def document(*arguments: object) -> Any:
    """Its JSON document."""
    return json.loads(run(*arguments, "--json"))
