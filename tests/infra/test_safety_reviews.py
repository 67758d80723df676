"""`make reviews`: chats that an operator shall look at, and how one is unlocked (M129)."""

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.chats.safety_reviews import SafetyReviews
from shared.data.chats.sessions import Sessions
from shared.domain.chats.chat import MAIN_SESSION, build_session
from shared.domain.chats.safety import SafetyScore
from tests.fixtures.chat import ADA
from tests.fixtures.storage import INDEXES
from tests.infra.test_dead_letters import run_command

MODULE = "infra.safety_reviews"


async def lock(documents: SqliteDocuments) -> str:
    """Lock a chat, and return the id of its review."""
    now = datetime.now(UTC)
    await Sessions(documents).add(ADA, build_session(MAIN_SESSION, app_id=None, now=now))
    reviews = SafetyReviews(documents)
    for _ in range(3):
        await reviews.add_harm(ADA, MAIN_SESSION, 1, now)
    (review,) = await reviews.list_newest()
    return review.id


async def read_safety(documents: SqliteDocuments) -> SafetyScore:
    session = await Sessions(documents).get(ADA, MAIN_SESSION)
    assert session is not None
    return session.safety


@pytest.mark.parametrize(("option", "is_locked"), [("--unlock", False), ("--close", True)])
def test_a_review_is_listed_and_settled_m129(
    tmp_path: Path, option: str, *, is_locked: bool
) -> None:
    with closing(SqliteDatabase(tmp_path / "keepsake.db")) as database:
        review_id = asyncio.run(lock(SqliteDocuments(database, INDEXES)))

    listed = run_command(tmp_path, module=MODULE)
    settled = run_command(tmp_path, option, review_id, module=MODULE)
    again = run_command(tmp_path, option, review_id, module=MODULE)
    empty = run_command(tmp_path, module=MODULE)

    assert listed.stdout.split("\n")[0].split()[0] == review_id
    assert listed.stdout.split("\n")[0].split()[3:] == ["locked", "0.83", "ada", "main"]
    assert (settled.returncode, again.returncode) == (0, 1), settled.stderr
    assert empty.stdout == "keepsake: no reviews\n"
    with closing(SqliteDatabase(tmp_path / "keepsake.db")) as database:
        safety = asyncio.run(read_safety(SqliteDocuments(database, INDEXES)))
    assert (safety != SafetyScore()) is is_locked


def test_without_data_it_says_so_m129(tmp_path: Path) -> None:
    command = run_command(tmp_path, module=MODULE)

    assert (command.returncode, command.stdout) == (1, "")
    assert command.stderr.startswith("keepsake: ")
