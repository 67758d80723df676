"""`make report`: thumbs and crises, in counts that know no persons (C73, C47)."""

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.chats.crisis_log import CrisisLog
from shared.data.chats.feedback import FeedbackStore
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.chats.feedback import Feedback
from shared.domain.ids import RunId, SessionId
from tests.fixtures.chat import ADA, PSEUDONYMS
from tests.fixtures.storage import INDEXES
from tests.infra.test_dead_letters import run_command

MODULE = "infra.report"


async def store_counts(documents: SqliteDocuments) -> None:
    now = datetime.now(UTC)
    for name in ("a1", "a2"):
        await FeedbackStore(documents).set(
            ADA, Feedback(id=name, source="chat", thumb="positive", created_at=now)
        )
    log = CrisisLog(documents, PSEUDONYMS)
    verdict = CrisisVerdict(level=3)
    await log.record(ADA, SessionId("main"), RunId("r1"), verdict, now=now)


def test_it_counts_what_happened_and_names_nobody_c73(tmp_path: Path) -> None:
    with closing(SqliteDatabase(tmp_path / "keepsake.db")) as database:
        asyncio.run(store_counts(SqliteDocuments(database, INDEXES)))

    report = run_command(tmp_path, "--days", "2", module=MODULE)

    assert report.returncode == 0, report.stderr
    assert report.stdout.split("\n\n")[0].split("\n") == [
        "Thumbs, 2 days",
        "       2  chat positive",
    ]
    assert "1  answered-3-rules" in report.stdout
    assert "ada" not in report.stdout


@pytest.mark.parametrize("days", ["0", "401", "many"])
def test_a_number_of_days_that_makes_no_sense_is_refused_c73(tmp_path: Path, days: str) -> None:
    assert run_command(tmp_path, "--days", days, module=MODULE).returncode == 2


def test_without_data_it_says_so_c73(tmp_path: Path) -> None:
    report = run_command(tmp_path, module=MODULE)

    assert (report.returncode, report.stdout) == (1, "")
    assert report.stderr.startswith("keepsake: ")
