"""Reviews of chats on the command line: list them, close one, or unlock its chat (by its id)."""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence

from infra.dead_letters import UsageError, check_data_exists
from shared import wiring
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.domain.chats.safety import SafetyReview
from shared.domain.errors import Unavailable
from shared.settings import SettingsError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make reviews", description=__doc__)
    parser.add_argument("--close", metavar="ID", default="", help="it was looked at")
    parser.add_argument("--unlock", metavar="ID", default="", help="its chat begins at 0 again")
    options = parser.parse_args(arguments)
    try:
        lines = asyncio.run(_run(options.close, options.unlock))
    except (DatabaseUnusable, SettingsError, Unavailable, UsageError) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    print(*lines, sep="\n")
    return 0


async def _run(close: str, unlock: str) -> list[str]:
    check_data_exists()
    store = wiring.stores().safety_reviews
    reviews = await store.list_newest()
    if unlock:
        review = _find_review(reviews, unlock)
        await store.unlock(review)
        return [f"keepsake: unlocked: {review.session_id} of {review.uid}"]
    if close:
        review = _find_review(reviews, close)
        await store.close(review)
        return [f"keepsake: closed: {review.session_id} of {review.uid}"]
    return list(_list_lines(reviews))


def _find_review(reviews: Sequence[SafetyReview], review_id: str) -> SafetyReview:
    for review in reviews:
        if review.id == review_id:
            return review
    raise UsageError(f"there is no review {review_id!r}: make reviews lists them")


def _list_lines(reviews: Sequence[SafetyReview]) -> Iterator[str]:
    for review in reviews:
        yield (
            f"{review.id}  {review.created_at:%Y-%m-%d %H:%M}Z  {review.step:<6}  "
            f"{review.points:.2f}  {review.uid}  {review.session_id}"
        )
    if reviews:
        yield "keepsake: CLOSE=id closes one, UNLOCK=id unlocks its chat"
    else:
        yield "keepsake: no reviews"


if __name__ == "__main__":
    sys.exit(main())
