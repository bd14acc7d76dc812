"""``sargo conf``: settings and statements that an administrator copies, as ``hive_conf`` has them."""

from __future__ import annotations

import click

from handler.cli.exit_codes import NO_OUTPUT, leave_with
from handler.cli.output.consoles import print_text

__all__ = ["command"]

#: As ``handler.shipped.artefacts.CONFIGURATIONS``, which is not imported for the help.
_NAMES = (
    *("hive4", "hive3", "sidecar", "systemd", "prometheus", "grafana"),
    *("native-table", "native-table-undo", "stored-by", "turn-off", "container"),
)


@click.command("conf", short_help="Print settings to copy: Hive, the sidecar, systemd, Prometheus.")
@click.argument("name", metavar="NAME", type=click.Choice(_NAMES))
@click.option("--copy-to", metavar="DIR", help="Write the files into this folder, and print their names.")
def command(name: str, copy_to: str | None) -> None:
    """Print the settings NAME.

    \b
    hive4, hive3        what goes into hive-site.xml
    sidecar, systemd    /etc/sargo/sidecar.toml, and the unit of the service
    prometheus          what scrapes the sidecar, and the alerts: two files, as two documents
    grafana             a dashboard of the sidecars, to be imported
    native-table, native-table-undo, stored-by, turn-off
                        statements for beeline
    container           the Containerfile of the sidecar
    \b
    sargo conf systemd > /etc/systemd/system/sargo-sidecar.service
    sargo conf prometheus --copy-to /etc/prometheus/sargo
    """
    from handler.cli.copies import copy_to as copies
    from handler.shipped import artefacts

    try:
        paths = artefacts.configuration(name)
    except artefacts.MissingError as error:
        leave_with(NO_OUTPUT, str(error))
    if copy_to is not None:
        for path in copies(copy_to, paths):
            print_text(str(path))
        return
    texts = [path.read_text(encoding="utf-8") for path in paths]
    if len(paths) > 1:
        texts = [f"---\n# {path.name}\n{text}" for path, text in zip(paths, texts, strict=True)]
    print_text("".join(texts), newline=False)
