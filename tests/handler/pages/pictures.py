"""Write the pictures of docs/guides/explain.md anew: ``python -m tests.handler.pages.pictures``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from handler.pages.explain_page import explain_page
from tests.handler.pages.browsing import Tab, chromium
from tests.handler.pages.large_plan import large_plan

FOLDER = Path(__file__).parents[3] / "docs" / "_static"
FILTER = "ts BETWEEN 1500000 AND 6000000 AND (fare < 20 OR city = 'city002')"
SIZE = {"width": 1120, "height": 700}


def main() -> None:
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.html"
        file.write_text(explain_page(large_plan(30, 300, FILTER)), encoding="utf-8")
        for name, look, section in (
            ("explain-summary", "light", "content"),
            ("explain-map", "light", "map"),
            ("explain-ranges", "dark", "ranges"),
        ):
            context = browser.new_context(color_scheme=look, viewport=SIZE, reduced_motion="reduce")
            tab = Tab(context).show(file)
            if section != "content":
                tab.value(f"document.getElementById('{section}').scrollIntoView()")
            tab.page.screenshot(path=FOLDER / f"{name}.png")
            context.close()


if __name__ == "__main__":
    main()
