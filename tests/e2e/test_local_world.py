"""Local world as others on the machine and on the network meet it: they get nothing (S9)."""

import stat
from pathlib import Path

import httpx
import pytest

from tests.e2e.product import (
    Product,
    add_conversation,
    build_conversation_body,
    run_product,
    run_refused_start,
)
from tests.local_key import KEY_HEADER

MADE_KEY = {"LOCAL_KEY": ""}


def request_token(product: Product, **headers: str) -> httpx.Response:
    return httpx.post(f"{product.origin}/local/token", json={"uid": "alice"}, headers=headers)


def test_another_local_user_can_read_no_file_of_a_running_product_s9(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with run_product(tmp_path) as product, product.client("alice") as alice:
        add_conversation(alice, build_conversation_body("offsite", "Lisbon is on Friday."))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.rglob("*")}
        folder_mode = stat.S_IMODE(data.stat().st_mode)

    assert folder_mode == 0o700
    assert {"keepsake.db", "keepsake.db-wal", "secret"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_another_local_user_gets_no_token_but_a_sentence_s9(tmp_path: Path) -> None:
    """Only this account reads the file that the sentence names, and sees the printed address."""
    file = tmp_path / "data" / "local_key"
    with run_product(tmp_path, **MADE_KEY) as product:
        key = file.read_text()
        refusals = [request_token(product), request_token(product, **{"X-Local-Key": "guess"})]
        accepted = request_token(product, **{"X-Local-Key": key})
        greeting = (tmp_path / "product.log").read_text().splitlines()[0]
    with run_product(tmp_path, **MADE_KEY) as restarted:
        accepted_later = request_token(restarted, **{"X-Local-Key": key})

    for refusal in refusals:
        assert (refusal.status_code, set(refusal.json())) == (
            401,
            {"type", "title", "status", "detail"},
        )
        assert refusal.json()["detail"].endswith(
            f"It is the content of {file}; programs send it in the header X-Local-Key."
        )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert accepted.json().keys() == accepted_later.json().keys() == {"token"}
    assert greeting.startswith(f"keepsake: {product.origin}/#key={key} · ")


@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
def test_a_page_of_another_origin_gets_no_token_s9(tmp_path: Path, content_type: str) -> None:
    """A page can send a simple request without the header, and must ask first for one with it."""
    page = {"Origin": "https://evil.example", "Content-Type": content_type}
    asking = {
        **page,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-local-key",
    }
    with run_product(tmp_path) as product:
        url = f"{product.origin}/local/token"
        simple = request_token(product, **page)
        preflight = httpx.options(url, headers=asking)
        rebound = request_token(product, **KEY_HEADER, Host="evil.example")

    assert (simple.status_code, preflight.status_code, rebound.status_code) == (401, 405, 421)
    for answer in (simple, preflight, rebound):
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_folder_that_others_share_is_refused_with_what_to_do_s9(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)

    code, message = run_refused_start(shared)

    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith(f"keepsake: {shared}: other accounts can open it: close it")
