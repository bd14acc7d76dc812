"""The README's examples for PySpark run."""

import re
from pathlib import Path

from handler.demo.run import unpack_table

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


def test_every_example_for_pyspark_runs(spark, tmp_path, capsys):
    table = unpack_table(tmp_path)  # by its whole path: Spark's workers run in another folder
    examples = [
        block
        for block in re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
        if "handler.spark" in block
    ]
    assert examples
    for example in examples:
        exec(compile(example.replace("playground/main_cow", str(table)), "README.md", "exec"), {"spark": spark})
    printed = capsys.readouterr().out
    assert "of 14 file slices kept" in printed
    assert "rows from" in printed
    assert "file slices kept: " in printed or spark.version < "4.1"
