"""Which commits count as the journal's."""

from pathlib import Path

from infra.bench.journals import Commits
from shared.domain.documents import Create, Set
from tests.functions.chat.conftest import open_world


async def test_a_commit_is_noted_with_its_documents_and_what_of_it_is_journal(
    tmp_path: Path,
) -> None:
    noting = Commits(open_world(tmp_path).documents)

    await noting.write(
        Set("users/ada/messages/m1", {"text": "Tell me."}),
        Create("users/ada/runs/r1/batches/00000001", {"events": "[1, 2]"}),
    )

    [commit] = noting.made
    assert (commit.documents, commit.journal_bytes) == (2, len("[1, 2]"))
