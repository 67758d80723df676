"""Report for an operator: thumbs and crises by day, in counts that know no persons (DAYS=30)."""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from infra.arguments import parse_number_between
from infra.dead_letters import UsageError, check_data_exists
from shared import wiring
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.data.store.day_counts import DayCounts
from shared.domain.errors import Unavailable
from shared.settings import SettingsError

COLLECTIONS = {"Thumbs": "feedback_days", "Crises": "crisis_days"}
MAX_DAYS = 400


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make report", description=__doc__)
    parser.add_argument("--days", type=parse_number_between(1, MAX_DAYS), default=30)
    options = parser.parse_args(arguments)
    try:
        lines = asyncio.run(build_report(options.days))
    except (DatabaseUnusable, SettingsError, Unavailable, UsageError) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    print(*lines, sep="\n")
    return 0


async def build_report(days: int) -> list[str]:
    """Return the lines of the report over the last days, today included."""
    check_data_exists()
    today = wiring.clock().now().date()
    lines: list[str] = []
    for title, collection in COLLECTIONS.items():
        counts = DayCounts(wiring.documents(), collection)
        lines += [f"{title}, {days} days", *_list_rows(await _sum(counts, today, days)), ""]
    return lines[:-1]


async def _sum(counts: DayCounts, today: date, days: int) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for ago in range(days):
        total.update(await counts.read(today - timedelta(days=ago)))
    return total


def _list_rows(counts: Mapping[str, int]) -> Iterator[str]:
    if not counts:
        yield "  none"
    for name, count in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        yield f"{count:8}  {name}"


if __name__ == "__main__":
    sys.exit(main())
