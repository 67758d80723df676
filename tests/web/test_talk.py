"""Speaking with the model on the console: a call by WebRTC, its words, and the turns that the chat keeps.

The provider is another page of the browser, which answers the call and plays the vendor's events.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shared.safety.crisis_plan import NOT_ALONE
from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until
from tests.servers import run_server
from tests.servers.realtime import FakeRealtime
from tests.web.conftest import TIMEOUT_MS
from tests.web.console import Console
from tests.web.test_accessibility import list_findings

PEER = """<!doctype html><title>Provider</title><script type="module">
  const connection = new RTCPeerConnection();
  const sound = new AudioContext();
  const speaker = sound.createMediaStreamDestination();
  window.connection = connection;
  window.received = [];
  connection.addEventListener("datachannel", ({ channel }) => {
    window.channel = channel;
    channel.addEventListener("message", ({ data }) => received.push(JSON.parse(data)));
  });
  connection.addTrack(speaker.stream.getAudioTracks()[0], speaker.stream);
  const offer = await (await fetch("/offer")).text();
  await connection.setRemoteDescription({ type: "offer", sdp: offer });
  await connection.setLocalDescription();
  const isComplete = () => connection.iceGatheringState === "complete";
  while (!isComplete()) await new Promise((resolve) => (connection.onicegatheringstatechange = resolve));
  await fetch("/answer", { method: "POST", body: connection.localDescription.sdp });
</script>"""
HEARS_SOUND = """async () => {
  const reports = [...(await connection.getStats()).values()];
  return reports.some(({ type, packetsReceived }) => type === "inbound-rtp" && packetsReceived > 20);
}"""
IS_OPEN = "() => window.channel?.readyState === 'open'"
IS_CLOSED = "() => window.channel.readyState === 'closed'"


@dataclass
class Provider(FakeRealtime):
    """Realtime that hands the offer of a call to the page that plays the model, and waits for its answer."""

    offers: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    sdp_answers: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    @property
    def app(self) -> Starlette:
        app = super().app
        app.router.routes += [
            Route("/", lambda _: HTMLResponse(PEER)),
            Route("/offer", self._give_offer),
            Route("/answer", self._take_answer, methods=["POST"]),
        ]
        return app

    async def answer_offer(self, sdp: str) -> str:
        await self.offers.put(sdp)
        return await self.sdp_answers.get()

    async def _give_offer(self, _: Request) -> Response:
        return Response(await self.offers.get())

    async def _take_answer(self, request: Request) -> Response:
        await self.sdp_answers.put((await request.body()).decode())
        return Response(status_code=204)


@pytest.fixture(scope="module")
def provider_url() -> Iterator[str]:
    with run_server(Provider().app) as url:
        yield url


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, provider_url: str) -> Iterator[str]:
    settings = {
        "OPENAI_API_KEY": "sk-our-own-key",
        "OPENAI_BASE_URL": f"{provider_url}/v1",
    }
    with run_product(tmp_path_factory.mktemp("talk"), **settings) as product:
        yield product.origin


@pytest.fixture
def peer(browser: Browser, provider_url: str) -> Iterator[Page]:
    page = browser.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(provider_url)
    yield page
    page.close()


def play(peer: Page, *events: dict[str, Any]) -> None:
    peer.evaluate(
        "events => events.forEach((event) => channel.send(JSON.stringify(event)))", events
    )


def begin_talk(console: Console, peer: Page) -> Locator:
    console.page.context.grant_permissions(["microphone"], origin=console.origin)
    console.page.get_by_role("button", name="Talk", exact=True).click()
    peer.wait_for_function(IS_OPEN)
    play(peer, {"type": "session.created"})
    talk = console.page.locator("#talk")
    expect(talk.get_by_role("status")).to_have_text("Listening. Say something.")
    return talk


def say(peer: Page, number: int, question: str, answer: str) -> None:
    """Play a spoken turn: the text of the question comes after the answer, as it mostly does."""
    said, answered = f"item_q{number}", f"item_a{number}"
    content = [{"type": "output_audio", "transcript": answer}]
    message = {"id": answered, "type": "message", "role": "assistant", "content": content}
    play(
        peer,
        {"type": "input_audio_buffer.speech_started", "item_id": said},
        {"type": "input_audio_buffer.speech_stopped", "item_id": said},
        {"type": "input_audio_buffer.committed", "item_id": said},
        {"type": "response.created", "response": {"id": f"resp_{number}"}},
        {"type": "output_audio_buffer.started", "response_id": f"resp_{number}"},
        {
            "type": "response.output_audio_transcript.delta",
            "item_id": answered,
            "delta": answer,
        },
        {"type": "response.done", "response": {"status": "completed", "output": [message]}},
        {
            "type": "conversation.item.input_audio_transcription.completed",
            "item_id": said,
            "transcript": question,
        },
    )


def test_a_spoken_turn_is_heard_shown_and_kept_in_the_chat_c76(
    console: Console, peer: Page
) -> None:
    console.sign_in("speaker")
    talk = begin_talk(console, peer)

    say(peer, 1, "Where are my keys?", "In the hall.")

    expect(talk.get_by_role("status")).to_have_text("Speaking")
    expect(talk.locator(".lines p")).to_have_text(
        ["You Where are my keys?", "Assistant In the hall."]
    )
    wait_until(lambda: peer.evaluate(HEARS_SOUND) or None)
    assert list_findings(console.page) == []
    talk.get_by_role("button", name="Stop talking").click()
    expect(talk).to_be_hidden()
    expect(console.page.locator("#messages .human")).to_contain_text("Where are my keys?")
    expect(console.answers.last).to_contain_text("In the hall.")
    expect(console.page.get_by_label("Your question")).to_be_focused()
    peer.wait_for_function(IS_CLOSED)
    console.page.reload()
    expect(console.page.locator("#messages .human")).to_have_count(1)
    assert console.foreign_requests == []
    assert console.page_errors == []


def test_a_tool_that_the_model_calls_runs_once_the_question_is_text_c76(
    console: Console, peer: Page
) -> None:
    console.sign_in("rememberer")
    begin_talk(console, peer)
    arguments = {"fact": "I like tea", "user_quote": "remember that I like tea"}
    call = {"type": "function_call", "name": "remember", "call_id": "call_1"}
    output = [{**call, "id": "item_c", "arguments": json.dumps(arguments)}]
    play(
        peer,
        {"type": "input_audio_buffer.committed", "item_id": "item_q"},
        {"type": "response.created", "response": {"id": "resp"}},
        {"type": "response.done", "response": {"status": "completed", "output": output}},
    )
    expect(console.page.locator("#talk .lines p")).to_have_count(1)
    assert peer.evaluate("received") == []

    play(
        peer,
        {
            "type": "conversation.item.input_audio_transcription.completed",
            "item_id": "item_q",
            "transcript": "Please remember that I like tea.",
        },
    )

    peer.wait_for_function("() => received.length === 2")
    result, request = peer.evaluate("received")
    assert result["item"]["call_id"] == "call_1"
    assert "Remembered" in result["item"]["output"]
    assert request == {"type": "response.create"}
    console.show_view("memories")
    expect(console.page.locator("#memories")).to_contain_text("I like tea")
    assert console.page_errors == []


def test_somebody_in_a_crisis_is_shown_whom_to_call_c76(console: Console, peer: Page) -> None:
    console.sign_in("needy")
    talk = begin_talk(console, peer)

    say(peer, 1, "I'm going to kill myself", "I am here.")

    expect(talk.get_by_role("alert").first).to_contain_text(NOT_ALONE)
    assert list_findings(console.page) == []
    assert console.page_errors == []


def test_a_connection_that_breaks_is_told_and_loses_no_turn_c76(
    console: Console, peer: Page
) -> None:
    console.sign_in("traveller")
    talk = begin_talk(console, peer)
    say(peer, 1, "Where are my keys?", "In the hall.")
    expect(talk.locator(".lines p")).to_have_count(2)

    peer.evaluate("connection.close()")

    expect(talk.get_by_role("alert").last).to_contain_text("The connection is lost.")
    expect(console.answers.last).to_contain_text("In the hall.")
    talk.get_by_role("button", name="Close").click()
    expect(talk).to_be_hidden()
    assert console.page_errors == []


def test_another_chat_ends_what_is_said_in_this_one_c76(console: Console, peer: Page) -> None:
    console.sign_in("wanderer")
    begin_talk(console, peer)
    say(peer, 1, "Where are my keys?", "In the hall.")
    expect(console.page.locator("#talk .lines p")).to_have_count(2)

    console.show_view("chats")
    console.page.get_by_role("button", name="New chat", exact=True).click()

    peer.wait_for_function(IS_CLOSED)
    expect(console.page.locator("#talk")).to_be_hidden()
    expect(console.page.locator("#messages")).not_to_contain_text("In the hall.")
    assert console.page_errors == []
