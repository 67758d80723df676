"""Command `python -m tests.functions.chat.crash_simulation 10000`: play random plans, count outcomes."""

import argparse
import asyncio
import logging
import sys
from collections import Counter
from random import Random

from tests.functions.chat.crash_simulation.plans import draw_plan
from tests.functions.chat.crash_simulation.play import check_plan

BAR_CHARS = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1, help="of the first plan")
    options = parser.parse_args()
    logging.getLogger("keepsake").setLevel(logging.CRITICAL)
    outcomes: Counter[str] = Counter()
    for number in range(1, options.count + 1):
        seed = options.seed + number - 1
        try:
            outcomes[asyncio.run(check_plan(draw_plan(Random(seed))))] += 1
        except Exception:
            print(f"\nseed {seed}: {draw_plan(Random(seed))}", file=sys.stderr)
            raise
        _print_progress(number, options.count)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    print(f"\n{options.count} plans held: {summary}")
    return 0


def _print_progress(number: int, count: int) -> None:
    if number % 50 == 0 or number == count:
        filled = BAR_CHARS * number // count
        print(
            f"\r[{'#' * filled}{'.' * (BAR_CHARS - filled)}] {number}/{count}", end="", flush=True
        )


if __name__ == "__main__":
    sys.exit(main())
