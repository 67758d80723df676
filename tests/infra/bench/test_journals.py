"""Journal bench: the commits that it counts."""

from pathlib import Path

from infra.bench.journals import CommitRecorder
from shared.domain.store.documents import Create, Set
from tests.fixtures.chat import open_chat_fixture


async def test_a_commit_is_recorded_with_its_documents_and_journal_bytes(
    tmp_path: Path,
) -> None:
    recorder = CommitRecorder(open_chat_fixture(tmp_path).documents)

    await recorder.write(
        Set("users/ada/messages/m1", {"text": "Tell me."}),
        Create("users/ada/runs/r1/batches/00000001", {"events": "[1, 2]"}),
    )

    [commit] = recorder.commits
    assert (commit.documents, commit.journal_bytes) == (2, len("[1, 2]"))
