"""``sargo jar``: where the jar for Hive or for Spark is, or a copy of it."""

from __future__ import annotations

import click

from handler.cli.exit_codes import NO_OUTPUT, leave_with
from handler.cli.output.consoles import print_text

__all__ = ["command"]


@click.command("jar", short_help="Name or copy the jar that Hive or Spark loads.")
@click.option("--copy-to", metavar="DIR", help="Copy it into this folder, and print the name of the copy.")
@click.option("--spark", metavar="VERSION", help="The jar for a version of Spark (3.5, 4.0 to 4.3), not for Hive.")
@click.option("--own-scans", is_flag=True, help="The Java source that `register` compiles into Spark, instead.")
def command(copy_to: str | None, spark: str | None, own_scans: bool) -> None:
    """Print the path of a jar, which a wheel carries and `make jar` builds in a checkout. The default: Hive 3.1 and 4.

    \b
    sargo jar --copy-to /opt/hive/auxlib
    export HIVE_AUX_JARS_PATH=$(sargo jar)
    spark-sql --jars $(sargo jar --spark 3.5) ...

    Exit codes: 0 printed, 2 a folder that cannot be written, 4 this installation was built without the jar,
    or there is none for that version of Spark.
    """
    from handler.cli.copies import copy_to as copies
    from handler.shipped import artefacts

    if own_scans and spark is not None:
        raise click.UsageError("--own-scans and --spark name different files")
    try:
        path = artefacts.own_scans() if own_scans else artefacts.jar() if spark is None else artefacts.spark_jar(spark)
    except artefacts.MissingError as error:
        leave_with(NO_OUTPUT, str(error))
    print_text(str(path if copy_to is None else copies(copy_to, [path])[0]))
