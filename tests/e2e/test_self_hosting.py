"""Self-hosting: where others reach the server, a stranger gets nothing (U6)."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.local.routing import ROOT
from tests.e2e.product import Product, run_product, run_refused_start
from tests.local_key import LOCAL_KEY

PASSWORD = "correct-horse-battery-staple"
ALL_INTERFACES = "0.0.0.0"  # noqa: S104 - nothing may listen there
REMOTE = {"ALLOW_REMOTE": "1", "LOCAL_KEY": "", "KEEPSAKE_USER": "ann"}
API = json.loads((ROOT / "docs/openapi.json").read_text())


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with run_product(folder, **REMOTE, KEEPSAKE_PASSWORD=PASSWORD) as product:
        yield product


def request_token(origin: str, uid: str, password: str, **headers: str) -> httpx.Response:
    body = {"uid": uid, "password": password}
    return httpx.post(f"{origin}/local/token", json=body, headers=headers)


def read_greeting(product: Product, folder: Path) -> str:
    """Read what the product printed; it answers requests only after its greeting."""
    httpx.get(f"{product.origin}/healthz").raise_for_status()
    return (folder / "product.log").read_text()


def list_guarded_operations() -> list[tuple[str, str]]:
    """List the routes that the published document does not call open, with ids in their paths."""
    return [
        (method.upper(), re.sub(r"{[^}]*}", "some-id", path))
        for path, operations in API["paths"].items()
        for method, operation in operations.items()
        if operation.get("security", API.get("security")) != []
    ]


def test_a_start_for_others_must_be_meant_u6(tmp_path: Path) -> None:
    code, message = run_refused_start(tmp_path, HOST=ALL_INTERFACES)

    assert code == 2
    assert message.endswith(
        "only a password protects your data: set ALLOW_REMOTE=1 if you mean it\n"
    )


def test_no_route_answers_a_stranger_u6(product: Product) -> None:
    query = dict.fromkeys(("uid", "aid", "session_id", "value", "current_value"), "1")
    body = {"aid": "some-id", "uid": "ann", "message": "Hello"}
    operations = list_guarded_operations()
    with httpx.Client(base_url=product.origin, params=query, timeout=30) as stranger:
        statuses = {
            (method, path): stranger.request(method, path, json=body, headers=headers).status_code
            for method, path in operations
            for headers in ({}, {"Authorization": "Bearer guess"})
        }

    assert len(operations) > 150
    assert {key: status for key, status in statuses.items() if status not in (401, 403)} == {}


def test_a_stranger_sees_only_the_sign_in_page_u6(product: Product) -> None:
    page = httpx.get(product.origin)
    config = httpx.get(f"{product.origin}/config.json")
    internal = [httpx.post(f"{product.origin}/{name}") for name in ("tool_proxy", "close_run")]

    assert 'id="sign-in"' in page.text
    assert config.json()["sign_in"] == "password"
    assert {answer.status_code for answer in internal} == {404}


def test_the_password_signs_in_and_opens_one_library_u6(product: Product) -> None:
    accepted = request_token(product.origin, "ann", PASSWORD)
    headers = {"Authorization": f"Bearer {accepted.json()['token']}"}
    own = httpx.get(f"{product.origin}/v1/conversations", headers=headers)

    assert own.json() == []
    assert request_token(product.origin, "bob", PASSWORD).status_code == 401
    assert request_token(product.origin, "ann", "", **{"X-Local-Key": LOCAL_KEY}).status_code == 401


def test_guesses_end_soon_whatever_address_is_claimed_u6(tmp_path: Path) -> None:
    with run_product(tmp_path, **REMOTE, KEEPSAKE_PASSWORD=PASSWORD) as product:
        answers = [
            request_token(product.origin, "ann", "guess", **{"X-Forwarded-For": f"10.0.0.{n}"})
            for n in range(30)
        ]
        log = (tmp_path / "product.log").read_text()

    assert [answer.status_code for answer in answers[:10]] == [401] * 10
    [refusal, *_] = [answer for answer in answers if answer.status_code == 429]
    assert int(refusal.headers["retry-after"]) > 0
    assert PASSWORD not in log


def test_behind_a_trusted_proxy_guesses_are_counted_by_the_address_it_names_u6(
    tmp_path: Path,
) -> None:
    settings = {**REMOTE, "KEEPSAKE_PASSWORD": PASSWORD, "TRUSTED_PROXIES": "127.0.0.1"}
    with run_product(tmp_path, **settings) as product:
        guesses = [
            request_token(product.origin, "ann", "guess", **{"X-Forwarded-For": "10.0.0.1"})
            for _ in range(30)
        ]
        other = request_token(product.origin, "ann", PASSWORD, **{"X-Forwarded-For": "10.0.0.2"})

    assert 429 in {answer.status_code for answer in guesses}
    assert other.status_code == 200


def test_only_the_public_address_is_served_beside_our_own_u6(tmp_path: Path) -> None:
    settings = {**REMOTE, "KEEPSAKE_PASSWORD": PASSWORD, "PUBLIC_URL": "https://keep.example.org"}
    with run_product(tmp_path, **settings) as product:
        answers = [
            httpx.get(product.origin, headers={"Host": host})
            for host in ("keep.example.org", "evil.example")
        ]
        greeting = read_greeting(product, tmp_path)

    assert [answer.status_code for answer in answers] == [200, 421]
    assert "PUBLIC_URL names the address" in answers[1].json()["detail"]
    assert greeting.startswith("keepsake: https://keep.example.org · ")


def test_a_first_start_prints_the_password_that_it_made_once_u6(tmp_path: Path) -> None:
    with run_product(tmp_path, **REMOTE) as product:
        greeting = read_greeting(product, tmp_path)
        [password] = re.findall(
            r"sign in as ann with the password (\S+) · shown this once", greeting
        )
        accepted = request_token(product.origin, "ann", password)
    with run_product(tmp_path, **REMOTE) as restarted:
        accepted_later = request_token(restarted.origin, "ann", password)
        second_greeting = read_greeting(restarted, tmp_path).replace(greeting, "")

    assert (accepted.status_code, accepted_later.status_code) == (200, 200)
    assert password not in second_greeting
    assert "#key=" not in greeting


def test_people_are_added_and_removed_while_the_server_runs_u6(tmp_path: Path) -> None:
    def run_users(*arguments: str, answer: str = "") -> str:
        command = ["env", "PYTHONPATH=.", f"DATA_DIR={tmp_path / 'data'}"]
        command += [sys.executable, "-m", "infra.local.users", *arguments]
        return subprocess.run(
            command, cwd=ROOT, input=answer, capture_output=True, check=True, text=True, timeout=30
        ).stdout

    with run_product(tmp_path, **REMOTE, KEEPSAKE_PASSWORD=PASSWORD) as product:
        added = run_users("--set", "bob", answer="bob's own password\n")
        token = request_token(product.origin, "bob", "bob's own password").json()["token"]
        listed = run_users()
        run_users("--remove", "bob")
        refused = request_token(product.origin, "bob", "bob's own password")
        [made] = re.findall(r"carl · (\S+)", run_users("--set", "carl", answer="\n"))
        of_carl = request_token(product.origin, "carl", made)

    assert added == "keepsake: bob can sign in now\n"
    assert token
    assert listed == "ann\nbob\n"
    assert (refused.status_code, of_carl.status_code) == (401, 200)
