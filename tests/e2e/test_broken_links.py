"""Broken links of answers: a real site is looked up through the tool proxy after the turn (M123)."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from functions.chat.corrections.correct_answer import correct_answer
from functions.chat.deps import AfterTurnDeps
from functions.tool_proxy.calls.call_routes import ROUTES as CALL_ROUTES
from functions.tool_proxy.calls.service_routes import ROUTES as SERVICE_ROUTES
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.http_link_checker import HttpLinkChecker
from shared.domain.chats.chat import CORRECTS_KEY, QUESTION_KEY, Message
from shared.edge.serve.http import build_application
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.chat import ADA, ChatFixture, build_chat_fixture
from tests.fixtures.tool_proxy import build_deps as build_proxy_deps
from tests.functions.chat.chats import load_session
from tests.functions.chat.test_corrections import build_correcting_deps, list_shown
from tests.functions.chat.test_disclosure_plays import build_deps as build_searching_deps
from tests.functions.chat.test_turn import ask, require_end
from tests.functions.tool_proxy.test_link_checks import Site
from tests.servers import run_server

LINK_NOTE = "A page that I linked to is gone. A search for it stands in its place."


@pytest.fixture
def world(database: SqliteDatabase) -> ChatFixture:
    return build_chat_fixture(database)


@asynccontextmanager
async def open_web(world: ChatFixture) -> AsyncIterator[tuple[Site, str, AfterTurnDeps]]:
    """Serve a site and the tool proxy that may look it up."""
    site = Site()
    with run_server(site.app) as origin:
        deps = build_proxy_deps(world.documents, world.clock, origins=[origin])
        with run_server(
            build_application("tool_proxy", (*CALL_ROUTES, *SERVICE_ROUTES), deps)
        ) as url:
            checker = HttpLinkChecker(url, SERVICE_IDENTITY, caller="after_turn")
            correcting = build_correcting_deps(world, ScriptedModel())
            yield site, origin, replace(correcting, link_checker=checker)


async def answer_with_links(world: ChatFixture, origin: str, text: str) -> Message:
    """Let an answer name pages of a site; a page of the web named three."""
    world.toolbox.answer = FOUND.format(origin=origin)
    read = script_calls(("read_web_page", {"url": f"{origin}/list"}))
    with ScriptedModel(read, script_answer(text.format(origin=origin))) as model:
        events = await ask(build_searching_deps(world, model), f"Read {origin}/list")
    world.clock.advance(seconds=2)
    return require_end(events).message


FOUND = "Sources:\n- A {origin}/status/404\n- B {origin}/status/500\n- C {origin}/fine"


async def test_a_link_to_nowhere_becomes_a_search_in_a_new_version_m123(
    world: ChatFixture,
) -> None:
    async with open_web(world) as (site, origin, deps):
        text = "See [trains]({origin}/status/404), {origin}/status/500 and {origin}/fine."
        first = await answer_with_links(world, origin, text)
        await correct_answer(deps, ADA, first.id)
        await correct_answer(deps, ADA, first.id)

    [_, shown] = await list_shown(world)
    search = "[Search for “127.0.0.1 status 404”](https://duckduckgo.com/?q=127.0.0.1+status+404)"
    assert shown["text"] == (
        f"See trains ({search}), {origin}/status/500 and {origin}/fine.\n\n{LINK_NOTE}"
    )
    assert shown["metadata"]["versions"] == [first.id, shown["id"]]
    assert shown["metadata"][CORRECTS_KEY]["reason"] == "broken_links"
    assert sorted(set(site.calls)) == [
        ("GET", "/status/404"),
        ("GET", "/status/500"),
        ("HEAD", "/fine"),
        ("HEAD", "/status/404"),
        ("HEAD", "/status/500"),
    ]


async def test_only_what_the_web_named_is_looked_up_m123(world: ChatFixture) -> None:
    async with open_web(world) as (site, origin, deps):
        with ScriptedModel(script_answer(f"Your link: {origin}/status/404")) as model:
            events = await ask(build_searching_deps(world, model), f"Keep {origin}/status/404")
        first = require_end(events).message
        await correct_answer(deps, ADA, first.id)

    assert first.text.endswith("/status/404")
    assert first.links is None
    assert site.calls == []


async def test_links_that_hold_change_nothing_m123(world: ChatFixture) -> None:
    async with open_web(world) as (_, origin, deps):
        first = await answer_with_links(world, origin, "See {origin}/fine.")
        await correct_answer(deps, ADA, first.id)

    assert (await load_session(world)).forks == ()


async def load_told_bits(world: ChatFixture) -> float:
    ledger = world.deps().stores.disclosure_ledger
    return (await ledger.load_day(ADA, world.clock.now().date())).bits.get("service web", 0.0)


async def test_a_look_up_counts_among_what_was_told_today_m123(world: ChatFixture) -> None:
    async with open_web(world) as (site, origin, deps):
        first = await answer_with_links(world, origin, "See {origin}/fine.")
        before = await load_told_bits(world)
        await correct_answer(deps, ADA, first.id)
        after = await load_told_bits(world)
        later = await answer_with_links(world, origin, "See {origin}/status/404.")
        left = 1_024 - await load_told_bits(world)
        await world.deps().stores.disclosure_ledger.spend(
            ADA, {"service web": left}, limit=1_024, now=world.clock.now()
        )
        site.requests.clear()
        await correct_answer(deps, ADA, later.id)

    assert first.links is not None
    assert after - before == pytest.approx(first.links.bits)
    assert site.calls == []


async def test_links_are_looked_up_and_counted_once_however_often_the_event_comes_m123(
    world: ChatFixture,
) -> None:
    async with open_web(world) as (site, origin, deps):
        first = await answer_with_links(world, origin, "See {origin}/fine.")
        before = await load_told_bits(world)
        for _ in range(3):
            await correct_answer(deps, ADA, first.id)

    assert site.calls == [("HEAD", "/fine")]
    assert first.links is not None
    assert await load_told_bits(world) - before == pytest.approx(first.links.bits)


class DyingChecker:
    """A process that dies while it looks links up."""

    async def find_broken(self, urls: Sequence[str]) -> Collection[str]:
        raise LookupError


async def test_a_look_up_that_broke_off_is_repeated_and_counted_once_m123(
    world: ChatFixture,
) -> None:
    async with open_web(world) as (site, origin, deps):
        first = await answer_with_links(world, origin, "See {origin}/fine.")
        before = await load_told_bits(world)
        with pytest.raises(LookupError):
            await correct_answer(replace(deps, link_checker=DyingChecker()), ADA, first.id)
        await correct_answer(deps, ADA, first.id)

    assert site.calls == [("HEAD", "/fine")]
    assert first.links is not None
    assert await load_told_bits(world) - before == pytest.approx(first.links.bits)


async def test_two_deliveries_at_once_count_links_once_m123(world: ChatFixture) -> None:
    async with open_web(world) as (_, origin, deps):
        first = await answer_with_links(world, origin, "See {origin}/fine.")
        before = await load_told_bits(world)
        await asyncio.gather(*(correct_answer(deps, ADA, first.id) for _ in range(2)))

    assert first.links is not None
    assert await load_told_bits(world) - before == pytest.approx(first.links.bits)


async def test_an_answer_that_waits_for_a_reply_stays_m123(world: ChatFixture) -> None:
    async with open_web(world) as (site, origin, deps):
        first = await answer_with_links(world, origin, "See {origin}/status/404")
        metadata = {**first.metadata, QUESTION_KEY: "c1"}
        await world.deps().stores.messages.change(ADA, first.id, metadata=metadata)
        await correct_answer(deps, ADA, first.id)

    assert site.calls == []
