"""Encryption of sealed chats in the browser: the test vectors of all clients, and the words of pairing codes (M83)."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from playwright.sync_api import Page

from examples.private_chat.encryption import Place, encrypt
from infra.local.routing import ROOT

VECTORS = json.loads((ROOT / "tests/vectors/private-chats.json").read_text())["vectors"]
ENCRYPT = """async (vector) => {
  const { decrypt, encrypt } = await import(moduleAt("/sealed/encryption.js"));
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16));
  const key = await crypto.subtle.importKey("raw", bytes(vector.key_hex), "AES-GCM", false, ["encrypt", "decrypt"]);
  const place = { uid: vector.uid, chat: vector.chat_id, message: vector.message_id, version: vector.version };
  return {
    ciphertext: await encrypt(key, vector.text, place, bytes(vector.nonce_hex)),
    text: await decrypt(key, vector.ciphertext, place),
    elsewhere: await decrypt(key, vector.ciphertext, { ...place, version: vector.version + 1 }),
  };
}"""
DERIVE = """async ([secret, nonce]) => {
  const { encrypt } = await import(moduleAt("/sealed/encryption.js"));
  const { chatKey, derivePairing } = await import(moduleAt("/sealed/keys.js"));
  const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const root = await crypto.subtle.importKey("raw", bytes(secret), "HKDF", false, ["deriveKey"]);
  const key = await chatKey({ uid: "alice", root }, "sealed-c1");
  return {
    pairing: (await derivePairing("alice", bytes(secret))).id,
    ciphertext: await encrypt(key, "Hello", { uid: "alice", chat: "sealed-c1", version: 1 }, bytes(nonce)),
  };
}"""
SECRET, NONCE = bytes(range(32)), bytes(range(12))
READ_WORDS = """async (text) => {
  const { parseWords, toWords } = await import(moduleAt("/sealed/code_words.js"));
  const code = parseWords(text);
  return code && toWords(code);
}"""
WORDS = "babab dabid fabof gabug hajar kajir lajor zuzuz"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_browser_keeps_to_the_test_vectors_m83(module_page: Page, vector: dict[str, Any]) -> None:
    assert module_page.evaluate(ENCRYPT, vector) == {
        "ciphertext": vector["ciphertext"],
        "text": vector["text"],
        "elsewhere": None,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WORDS, WORDS),
        (f" {WORDS.upper()} ", WORDS),
        (WORDS.replace(" ", "-"), WORDS),
        (WORDS.replace("zuzuz", "zezuz"), None),
        (WORDS.replace("zuzuz", "cuzuz"), None),
        (WORDS.replace("zuzuz", "zuzu"), None),
        (WORDS.replace("zuzuz", "zuzuzu"), None),
        (f"{WORDS} babab", None),
        (WORDS.removesuffix(" zuzuz"), None),
        ("", None),
    ],
)
def test_a_code_is_eight_words_m83(module_page: Page, text: str, words: str | None) -> None:
    assert module_page.evaluate(READ_WORDS, text) == words


def derive(info: str, length: int) -> bytes:
    return HKDF(SHA256(), length, salt=None, info=info.encode()).derive(SECRET)


def test_keys_are_derived_as_documented_m83(module_page: Page) -> None:
    """Otherwise no chat that was stored before could be read."""
    given = [base64.b64encode(secret).decode() for secret in (SECRET, NONCE)]
    key = derive("keepsake-v1|alice|sealed-c1", 32)
    place = Place(uid="alice", chat_id="sealed-c1", version=1)

    assert module_page.evaluate(DERIVE, given) == {
        "pairing": derive("keepsake-pairing-v1|alice|id", 16).hex(),
        "ciphertext": encrypt(key, "Hello", place, nonce=NONCE),
    }
