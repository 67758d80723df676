"""Reference client of docs/private-chats.md: test vectors, and two devices on the running product (M83)."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from examples.private_chat.__main__ import play
from examples.private_chat.device import Device
from examples.private_chat.encryption import NotOurs, Place, create_key, decrypt, encrypt
from shared.wiring import ROOT
from tests.e2e.product import run_product
from tests.e2e.test_incognito import list_files_with

VECTORS = json.loads((ROOT / "tests/vectors/private-chats.json").read_text())["vectors"]
PLACE = Place(uid="alice", chat_id="sealed-c1", message_id="sealed-c1-m1", version=2)
CANARY = "quokkasecret"


def locate(vector: dict[str, Any]) -> Place:
    return Place(**{name: vector[name] for name in ("uid", "chat_id", "message_id", "version")})


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_client_keeps_to_the_test_vectors_m83(vector: dict[str, Any]) -> None:
    key, nonce, place = bytes.fromhex(vector["key_hex"]), vector["nonce_hex"], locate(vector)

    assert place.additional_data.decode() == vector["additional_data"]
    ciphertext = encrypt(key, vector["text"], place, nonce=bytes.fromhex(nonce))
    assert ciphertext == vector["ciphertext"]
    assert decrypt(key, ciphertext, place) == vector["text"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_vector_is_what_the_document_says_m83(vector: dict[str, Any]) -> None:
    nonce = bytes.fromhex(vector["nonce_hex"])
    sealed = AESGCM(bytes.fromhex(vector["key_hex"])).encrypt(
        nonce, vector["text"].encode(), vector["additional_data"].encode()
    )

    assert base64.b64decode(vector["ciphertext"]) == b"\x01" + nonce + sealed


@pytest.mark.parametrize(
    "elsewhere",
    [{"uid": "eve"}, {"chat_id": "sealed-c2"}, {"message_id": "sealed-c1-m2"}, {"version": 1}],
)
def test_a_ciphertext_of_another_place_does_not_decrypt_m82(elsewhere: dict[str, Any]) -> None:
    key = create_key()
    ciphertext = encrypt(key, "hello", PLACE)

    with pytest.raises(NotOurs):
        decrypt(key, ciphertext, replace(PLACE, **elsewhere))
    with pytest.raises(NotOurs):
        decrypt(create_key(), ciphertext, PLACE)
    with pytest.raises(NotOurs):
        decrypt(key, "Ag==", PLACE)


def test_two_devices_share_a_chat_that_the_server_cannot_read_m82(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("alice") as http:
        phone, tablet = play(http, "alice")
        [chat] = phone.chats.values()
        secret = phone.ask(chat, f"Where is my {CANARY}?")
        tablet.sync()
        known = tablet.chats[chat.id]
        answer = tablet.ask(known, "And the other one?")
        phone.sync()
        listed = http.get("/v2/chat-sessions").json()
        found = http.get("/v1/chats/search", params={"query": CANARY}).json()
        product.process.kill()
        product.process.wait()

    assert (secret.reason, answer.reason) == (None, None)
    assert [m.text for m in known.list_messages()] == [m.text for m in chat.list_messages()]
    assert (len(chat.messages), known.title) == (10, "A present for Ann")
    assert listed == []
    assert CANARY not in str(found)
    assert list(list_files_with(tmp_path, CANARY)) == []
    with run_product(tmp_path) as product, product.client("alice") as http:
        restarted = Device(http, "alice", keys=phone.keys)
        restarted.sync()
        again = restarted.chats[chat.id]
        assert [m.text for m in again.list_messages()] == [m.text for m in chat.list_messages()]
        assert restarted.ask(again, "Still there?").reason is None


def test_what_the_first_device_forgot_is_sent_again_m88(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("alice") as http:
        phone = Device(http, "alice")
        chat = phone.begin("Plans")
        first = phone.ask(chat, "When is the offsite?")
        phone.forget_at_the_server()
        second = phone.ask(chat, "And where?")
        third = phone.ask(chat, "With whom?")

    assert [answer.reason for answer in (first, second, third)] == [None, "cache_miss", None]
    assert len(chat.messages) == 6
