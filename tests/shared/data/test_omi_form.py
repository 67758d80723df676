"""Conversations as Omi's own backend stores them: read, processed and written at each of its levels (L4)."""

import base64
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from httpx import AsyncClient

from shared.data.store.omi_form import MAX_JSON_BYTES, OmiForm
from shared.domain.store.documents import Query, Set
from tests.fakes import ScriptedModel
from tests.fixtures.library import build_client
from tests.fixtures.processing import (
    ALICE,
    START,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
)

SECRET = "the operator's secret, of 32 bytes or more"
PATH = "users/alice/conversations/talk"
SEGMENTS = [
    {
        "id": "s1",
        "text": "I'm allergic to peanuts, said Zoë.",
        "speaker": "SPEAKER_01",
        "speaker_id": 1,
        "is_user": True,
        "person_id": None,
        "start": 0.0,
        "end": 2.5,
        "translations": [],
        "speech_profile_processed": True,
        "stt_provider": "deepgram",
    }
]


def encrypt_as_omi(text: str, uid: str = "alice", secret: str = SECRET) -> str:
    """Encrypt as backend/utils/encryption.py does."""
    hkdf = HKDF(SHA256(), length=32, salt=uid.encode(), info=b"user-data-encryption")
    nonce = bytes(range(12))
    sealed = AESGCM(hkdf.derive(secret.encode())).encrypt(nonce, text.encode(), None)
    return base64.b64encode(nonce + sealed).decode()


PACKED = zlib.compress(json.dumps(SEGMENTS).encode())
FORMS: dict[str, dict[str, Any]] = {
    "standard": {"transcript_segments": PACKED, "transcript_segments_compressed": True},
    "enhanced": {
        "transcript_segments": encrypt_as_omi(PACKED.hex()),
        "transcript_segments_compressed": True,
    },
    "older enhanced": {
        "transcript_segments": encrypt_as_omi(json.dumps(SEGMENTS)),
        "transcript_segments_compressed": False,
    },
    "a list": {"transcript_segments": SEGMENTS},
}


def build_omi_fields(form: str) -> dict[str, Any]:
    """Return a document with the fields that Omi's backend writes, several of them null."""
    return {
        "id": "talk",
        "created_at": START,
        "started_at": None,
        "finished_at": None,
        "source": "friend",
        "language": None,
        "structured": {
            "title": "Lunch",
            "overview": "About food.",
            "emoji": "🍽",
            "category": "personal",
            "action_items": [
                {"description": "Call Ann", "completed": False, "created_at": START, "due_at": None}
            ],
            "events": [],
        },
        "geolocation": None,
        "photos": [],
        "audio_files": [],
        "private_cloud_sync_enabled": False,
        "apps_results": [{"app_id": None, "content": "A lunch."}],
        "plugins_results": [],
        "suggested_summarization_apps": [],
        "external_data": None,
        "app_id": None,
        "discarded": False,
        "visibility": "public",
        "starred": False,
        "status": "completed",
        "is_locked": False,
        "data_protection_level": form.rpartition(" ")[2],
        "folder_id": None,
        "call_id": None,
        **FORMS[form],
    }


def build_world(database: Any, form: OmiForm) -> ProcessingFixture:
    model = ScriptedModel(answers=build_script(build_outputs()))
    return build_processing_fixture(database, model, omi_form=form)


@pytest.fixture
def omi_world(database: Any) -> ProcessingFixture:
    return build_world(database, OmiForm(secret=SECRET))


@pytest.fixture
async def phone(omi_world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with build_client(omi_world, ALICE) as client:
        yield client


@pytest.mark.parametrize(
    ("kind", "field"), [("messages", "text"), ("memories", "content"), ("photos", "base64")]
)
async def test_a_field_that_omi_encrypted_is_read_also_where_it_alone_is_asked_for_l4(
    omi_world: ProcessingFixture, kind: str, field: str
) -> None:
    stored = {field: encrypt_as_omi("Zoë"), "data_protection_level": "enhanced", "id": "x"}
    collection = f"users/alice/{kind}"
    await omi_world.documents.write(Set(f"{collection}/x", stored))
    [found] = await omi_world.documents.query(Query(collection=collection, fields=(field,)))

    assert dict(found.fields) == {field: "Zoë"}


@pytest.mark.parametrize("form", FORMS)
async def test_a_conversation_of_omis_is_listed_and_read_whole_l4(
    omi_world: ProcessingFixture, phone: AsyncClient, form: str
):
    await omi_world.documents.write(Set(PATH, build_omi_fields(form)))

    [listed] = (await phone.get("/v1/conversations")).json()

    segment = listed["transcript_segments"][0]
    assert (segment["id"], segment["text"], segment["end"]) == ("s1", SEGMENTS[0]["text"], 2.5)
    assert listed["structured"]["title"] == "Lunch"
    assert (listed["language"], listed["visibility"]) == ("en", "shared")
    assert (await phone.get("/v1/conversations/talk")).json()["transcript_segments"] == [segment]


async def test_the_trigger_reads_what_omi_wrote_and_its_content_decides_l4(
    omi_world: ProcessingFixture,
):
    await omi_world.documents.write(Set(PATH, build_omi_fields("standard")))
    [first] = await omi_world.run_trigger()

    await omi_world.documents.write(Set(PATH, build_omi_fields("enhanced")))

    assert first["content_hash"] != "malformed"
    assert await omi_world.run_trigger() == [], "the same words in another form are no change"


@pytest.mark.parametrize(
    "stored",
    [
        encrypt_as_omi(PACKED.hex(), secret="another secret of the operator, as long"),
        encrypt_as_omi(PACKED.hex(), uid="bob"),
        "no base64",
        PACKED[:-9],
        zlib.compress(b'[{"text": "' + b"a" * MAX_JSON_BYTES + b'"}]'),
        zlib.compress(b"[" + b"[]," * 500_001 + b"[]]"),
        zlib.compress(b'{"text": "no list"}'),
    ],
)
async def test_a_transcript_that_cannot_be_opened_stays_as_omi_wrote_it_l4(
    database: Any, omi_world: ProcessingFixture, phone: AsyncClient, stored: bytes | str
):
    fields = {**build_omi_fields("standard"), "transcript_segments": stored}
    await omi_world.documents.write(Set(PATH, fields))
    await omi_world.deliver_all()

    raw = await build_world(database, OmiForm()).documents.get(PATH)

    assert (await phone.get("/v1/conversations")).json() == []
    assert (await phone.get("/v1/conversations/talk")).status_code == 404
    assert raw is not None
    assert raw.fields["status"] == "completed"


async def test_photos_are_decrypted_l4():
    photo = {"id": "p", "base64": encrypt_as_omi("aGk="), "data_protection_level": "enhanced"}

    read = OmiForm(secret=SECRET).read(f"{PATH}/photos/p", photo)

    assert read["base64"] == "aGk="


@pytest.mark.parametrize("level", ["standard", "enhanced"])
def test_at_a_level_of_omis_it_reads_what_is_written_l4(level: Any):
    form = OmiForm(secret=SECRET, level=level)

    written = form.write(PATH, {"title": "Lunch", "transcript_segments": SEGMENTS})

    assert isinstance(written["transcript_segments"], bytes if level == "standard" else str)
    assert written["transcript_segments_compressed"] is True
    assert written["data_protection_level"] == level
    assert OmiForm(secret=SECRET).read(PATH, written)["transcript_segments"] == SEGMENTS
    assert form.write("users/alice/memories/m", {"content": "x"}) == {"content": "x"}


def test_a_transcript_in_the_bin_is_as_unreadable_as_in_the_library_l4():
    form, path = OmiForm(secret=SECRET, level="enhanced"), "users/alice/bin/conversations-c"
    record = {"title": "Lunch", "transcript_segments": SEGMENTS}

    written = form.write(path, {"kind": "conversations", "record_id": "c", "record": record})

    assert isinstance(written["record"]["transcript_segments"], str)
    assert form.read(path, written)["record"]["transcript_segments"] == SEGMENTS
