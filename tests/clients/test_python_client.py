"""Python client against the product: the API, answers as they are written, and lost connections."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from keepsake_client import Keepsake, RequestFailed
from keepsake_client.types import ConversationOut

from infra.client_types import TYPES_FILE, write_types
from tests.clients.conftest import ANSWER
from tests.e2e.product import Product, build_conversation_body
from tests.local_key import LOCAL_KEY
from tests.servers import run_server
from tests.servers.breaking_proxy import BreakingProxy
from tests.servers.openai import Script, ScriptedOpenai


@pytest.fixture
def keepsake(product: Product) -> Iterator[Keepsake]:
    with Keepsake.sign_in_locally(product.origin, "alice", LOCAL_KEY) as keepsake:
        yield keepsake


def test_a_conversation_is_added_and_read_back(keepsake: Keepsake) -> None:
    keepsake.post("/v1/conversations", build_conversation_body("lunch", "Soup on Monday."))

    conversation: ConversationOut = keepsake.get("/v1/conversations/lunch")

    assert conversation["transcript_segments"][0]["text"] == "Soup on Monday."


def test_an_answer_arrives_in_events(keepsake: Keepsake) -> None:
    types = [event["type"] for event in keepsake.ask("When is the offsite?")]

    assert (types[0], types[-1]) == ("start", "finish")
    assert keepsake.ask("When is it?").read_text() == ANSWER


def test_a_refusal_says_why(keepsake: Keepsake) -> None:
    with pytest.raises(RequestFailed, match=r"^Conversation not found$") as refused:
        keepsake.get("/v1/conversations/none")

    assert refused.value.status == 404


def test_an_answer_is_stopped_where_it_is(keepsake: Keepsake, model: ScriptedOpenai) -> None:
    model.play(Script(text=ANSWER, stall_after=3))
    answer = keepsake.ask("When?")
    events = iter(answer)
    text = next(event["delta"] for event in events if event["type"] == "text-delta")

    answer.stop()

    assert [event["type"] for event in events][-1] == "abort"
    assert ANSWER.startswith(text)


def test_an_answer_continues_over_connections_that_break(product: Product) -> None:
    """Each connection through the proxy breaks after some bytes, everywhere in the stream."""
    pauses_s: list[float] = []
    proxy = BreakingProxy(product.origin, step=300)
    with (
        run_server(proxy) as url,
        Keepsake.sign_in_locally(url, "alice", LOCAL_KEY, sleep=pauses_s.append) as keepsake,
    ):
        text = keepsake.ask("When is the offsite?").read_text()

    assert text.removesuffix("[1]") == ANSWER  # cited where the conversation is indexed already
    assert len(pauses_s) == proxy.breaks > 1


def test_the_text_of_an_answer_is_without_what_was_taken_back_n1(thinking_server: str) -> None:
    with Keepsake(thinking_server, "token") as keepsake:
        assert keepsake.ask("When is the offsite?").read_text() == f"Yes. {ANSWER}"


def test_the_types_are_those_of_the_api(tmp_path: Path) -> None:
    write_types(tmp_path / "types.py")

    is_current = (tmp_path / "types.py").read_text() == TYPES_FILE.read_text()
    assert is_current, f"run `make clients` and commit what it writes: {TYPES_FILE.name}"
