"""`python -m infra.scale` measures the product's counters and writes docs/scale.md; `--page` measures nothing."""

import asyncio
import sys

from infra.bench.processes import ROOT
from infra.scale.measure import measure
from infra.scale.page import render_page, render_plot
from infra.scale.work import load_counters, write_counters


def main() -> None:
    if "--page" not in sys.argv[1:]:
        write_counters(asyncio.run(measure()))
    counters = load_counters()
    (ROOT / "docs/scale.md").write_text(render_page(counters))
    (ROOT / "docs/scale.svg").write_text(render_plot(counters))


if __name__ == "__main__":
    main()
