"""`python -m tests.functions.chat.cuts 10000`: play so many random plans and say how they ended."""

import argparse
import asyncio
import logging
import sys
from collections import Counter
from random import Random

from tests.functions.chat.cuts.plans import random_plan
from tests.functions.chat.cuts.play import play

BAR = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1, help="of the first plan")
    options = parser.parse_args()
    logging.getLogger("keepsake").setLevel(logging.CRITICAL)
    outcomes: Counter[str] = Counter()
    for done in range(1, options.count + 1):
        seed = options.seed + done - 1
        try:
            outcomes[asyncio.run(play(random_plan(Random(seed))))] += 1
        except Exception:
            print(f"\nseed {seed}: {random_plan(Random(seed))}", file=sys.stderr)
            raise
        _show(done, options.count)
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    print(f"\n{options.count} plans held: {told}")
    return 0


def _show(done: int, count: int) -> None:
    if done % 50 == 0 or done == count:
        filled = BAR * done // count
        print(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {done}/{count}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
