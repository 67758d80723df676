"""TypeScript client against the product: built as its package says, and run by Node.js."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.emulators.node import find_command, install_packages
from infra.emulators.process import CannotRunError
from infra.openapi import ROOT
from tests.clients.conftest import ANSWER
from tests.e2e.product import Product
from tests.servers import run_server
from tests.servers.breaking_proxy import BreakingProxy
from tests.servers.openai import Script, ScriptedOpenai

CLIENT = ROOT / "clients/typescript"
TIMEOUT_S = 120


@pytest.fixture(scope="module")
def built_client() -> Path:
    """Build the package; skip without Node.js, unless REQUIRE_ALL=1 says that there must be."""
    try:
        folder, npm = install_packages(CLIENT, "typescript-client"), find_command("npm")
    except CannotRunError as error:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    shutil.copy(CLIENT / "tsconfig.json", folder)
    shutil.copytree(CLIENT / "src", folder / "src", dirs_exist_ok=True)
    build = subprocess.run(
        [npm, "run", "build"], cwd=folder, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    assert build.returncode == 0, build.stdout.decode()
    return folder


@pytest.fixture
def token(product: Product) -> str:
    with product.client("alice") as http:
        return http.headers["authorization"].removeprefix("Bearer ")


def use(folder: Path, url: str, token: str, action: str) -> Any:
    process = subprocess.run(
        [find_command("node"), "--input-type=module", "-", url, token, action],
        cwd=folder,
        input=Path(__file__).with_name("use.mjs").read_bytes(),
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert process.returncode == 0, process.stderr.decode()
    return json.loads(process.stdout)


def test_a_conversation_is_read_u11(built_client: Path, product: Product, token: str) -> None:
    assert use(built_client, product.origin, token, "read") == "The Lisbon offsite moves to Friday."


def test_a_refusal_says_why(built_client: Path, product: Product, token: str) -> None:
    refusal = use(built_client, product.origin, token, "refuse")

    assert refusal == [True, 404, "Conversation not found"]


def test_an_answer_continues_over_connections_that_break(
    built_client: Path, product: Product, token: str
) -> None:
    proxy = BreakingProxy(product.origin, step=300)
    with run_server(proxy) as url:
        text, pauses = use(built_client, url, token, "ask")

    assert text.removesuffix("[1]") == ANSWER  # cited where the conversation is indexed already
    assert pauses == proxy.breaks > 1


def test_the_text_of_an_answer_is_without_what_was_taken_back_n1(
    built_client: Path, thinking_server: str
) -> None:
    text, _ = use(built_client, thinking_server, "token", "ask")

    assert text == f"Yes. {ANSWER}"


def test_an_answer_is_stopped_where_it_is(
    built_client: Path, product: Product, token: str, model: ScriptedOpenai
) -> None:
    model.play(Script(text=ANSWER, stall_after=3))

    assert use(built_client, product.origin, token, "stop") == "abort"
