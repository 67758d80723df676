"""Quirks of servers through our adapter: each ends as it must, is learned once, and harms nobody else."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, get_args

import anyio
import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.errors import ModelFailed
from shared.domain.failure import FailureReason
from shared.domain.models.model import FinishReason, Prompt
from tests.fakes import FixedClock
from tests.servers.quirks import QUIRKS, QUIRKS_BY_KIND
from tests.servers.quirks.chunks import MEGABYTE
from tests.servers.quirky_openai import (
    ANSWER,
    GREETING,
    TITLE,
    Ask,
    End,
    Quirk,
    QuirkyOpenai,
    Received,
    Reply,
    behave,
    build_chunk,
    build_text_chunks,
    refuse,
    run_quirky_server,
    send_json,
    stream,
)
from tests.shared.models.turns import (
    APP_TOOL,
    SEARCH_TOOL,
    SENT,
    Outcome,
    Title,
    ask,
    ask_chat,
    ask_structured,
    open_model,
)

MOST_BYTES = 48 * MEGABYTE
"""What is read at most of an answer that does not end."""
PLAIN = Quirk(id="plain", source="every client expects it", play=behave)
OFFERED = {"refused-tool": (APP_TOOL,)}


def _list_cases(ids: Iterable[str]) -> list[ParameterSet]:
    return [pytest.param(_get_quirk(id_), id=id_) for id_ in ids]


def _get_quirk(id_: str) -> Quirk:
    quirk, kind = QUIRKS[id_], id_.partition("/")[0]
    return replace(quirk, tools=quirk.tools or OFFERED.get(kind, ()))


@pytest.fixture(scope="module")
def server() -> Iterator[QuirkyOpenai]:
    with run_quirky_server() as server:
        yield server


def _check_end(outcome: Outcome, quirk: Quirk) -> None:
    end = quirk.end
    if outcome.failure or not end.reasons or (end.failures and end.reasons == ("stop",)):
        assert outcome.failure in end.failures, outcome
        return
    if quirk.ask == "structured":
        assert outcome.value == Title.model_validate(TITLE)
        return
    assert outcome.reason in end.reasons, outcome
    _check_text(outcome.text, end.text)
    assert end.reasoning in outcome.reasoning
    assert not end.reasoning or end.reasoning not in outcome.text
    if end.calls is not None:
        assert outcome.calls == [*end.calls]
    assert outcome.left_out == [*end.left_out]


def _check_text(text: str, wanted: str) -> None:
    """Compare the words; a star at their end stands for anything."""
    if wanted.endswith("*"):
        assert text.startswith(wanted[:-1])
    else:
        assert text.strip() == wanted


@pytest.mark.parametrize("quirk", _list_cases(QUIRKS))
async def test_a_quirk_ends_as_it_must_n1(server, quirk):
    session = server.open(quirk)
    async with open_model(session.url, quirk.model, marks_prefixes=quirk.marks_prefixes) as model:
        outcome = await ask(model, quirk)
        window_tokens = model.describe("agent").window_tokens

    _check_end(outcome, quirk)
    assert len(session.bodies) <= quirk.most
    assert session.sent_bytes < MOST_BYTES
    if quirk.end.window_tokens is not None:
        assert window_tokens == quirk.end.window_tokens
    elif quirk.end.failures:
        assert window_tokens > 1_000
    if quirk.end.failures and quirk.end.retry_after_s is not None:
        least, most = quirk.end.retry_after_s
        assert outcome.retry_after_s is not None
        assert least <= outcome.retry_after_s <= most
    elif outcome.failure == "busy" and "wait" in quirk.source:
        assert outcome.retry_after_s is None


LEARNED = [
    id_ for id_, quirk in QUIRKS.items() if quirk.steps and quirk.is_kept and not quirk.end.failures
]


@pytest.mark.parametrize("quirk", _list_cases(LEARNED))
async def test_what_is_known_costs_no_further_request_n1(server, quirk):
    session = server.open(quirk)
    async with open_model(session.url, quirk.model, marks_prefixes=quirk.marks_prefixes) as model:
        await ask(model, quirk)
        first_count, first_refusals = len(session.bodies), session.refused
        outcome = await ask(model, quirk)

    _check_end(replace(outcome, left_out=[*quirk.end.left_out]), quirk)
    assert outcome.left_out == []
    assert session.refused == first_refusals
    assert len(session.bodies) - first_count <= quirk.least + quirk.extra


WITHOUT_THOUGHTS = [id_ for id_ in LEARNED if not id_.startswith("field-refused-back/")]
"""Models that were not seen to think: for thoughts there stays room in what is asked for."""


@pytest.mark.parametrize("quirk", _list_cases(WITHOUT_THOUGHTS))
async def test_a_provider_that_changes_its_mind_is_asked_in_the_usual_form_a_day_later_n1(
    server, quirk
):
    def play(received: Received) -> Reply:
        return behave(received) if has_changed else quirk.play(received)

    has_changed = False
    clock = FixedClock()
    session, fresh_session = (
        server.open(replace(quirk, play=play)),
        server.open(replace(PLAIN, ask=quirk.ask)),
    )
    marks = quirk.marks_prefixes
    async with (
        open_model(session.url, quirk.model, marks_prefixes=marks, clock=clock) as model,
        open_model(fresh_session.url, quirk.model, marks_prefixes=marks) as fresh_model,
    ):
        await ask(model, quirk)
        count, has_changed = len(session.bodies), True
        clock.advance(days=1)
        await ask(model, quirk)
        await ask(fresh_model, quirk)

    assert session.bodies[count:] == fresh_session.bodies


PERSONAL = [id_ for id_, quirk in QUIRKS.items() if quirk.is_personal]


@pytest.mark.parametrize("quirk", _list_cases(PERSONAL))
async def test_what_somebody_wrote_steps_nothing_down_for_others_n1(server, quirk):
    """Ask what a quirk is about, then what others ask: that is sent as if nothing had happened."""

    def play(received: Received) -> Reply:
        return _behave_to_others(received) if others_ask else quirk.play(received)

    others_ask = False
    session = server.open(replace(quirk, play=play))
    fresh_session = server.open(replace(PLAIN, play=_behave_to_others))
    async with open_model(session.url) as model, open_model(fresh_session.url) as fresh_model:
        await ask(model, quirk)
        others_ask = True
        count = len(session.bodies)
        for one in (model, fresh_model):
            assert (await ask_chat(one, SENT["chat"], [SEARCH_TOOL])).reason == "stop"
            await ask_structured(one)

    assert session.bodies[count:] == fresh_session.bodies


def _behave_to_others(received: Received) -> Reply:
    ask_: Ask = "structured" if "response_format" in received.body else "question"
    return behave(replace(received, ask=ask_))


def test_every_quirk_is_named_once_and_has_its_source():
    quirks = [quirk for quirks in QUIRKS_BY_KIND.values() for quirk in quirks]

    assert len(QUIRKS) == len(quirks)
    assert all(quirk.source for quirk in quirks)


async def _check_key(server: QuirkyOpenai, api_key: str) -> tuple[Outcome, list[str]]:
    quirk = Quirk(id="key", source="W42", play=behave, ask="greeting", end=End(text=GREETING))
    session = server.open(quirk)
    async with open_model(session.url, api_key=api_key) as model:
        outcome = await ask(model, quirk)
    return outcome, session.authorizations


SPACED_KEYS = {"line": "sk-abc\n", "space": " sk-abc", "lines": "sk-abc\r\n", "tab": "\tsk-abc "}
ODD_KEYS = {
    "umlaut": "sk-äbc",
    "line": "sk-a\nbc",
    "han": "sk-東京",
    "null": "sk-a\0bc",
    "quotes": "sk-“abc”",
}


@pytest.mark.parametrize("api_key", SPACED_KEYS.values(), ids=SPACED_KEYS.keys())
async def test_spaces_around_a_key_are_not_sent_n1(server, api_key):
    outcome, authorizations = await _check_key(server, api_key)

    assert outcome.text == GREETING
    assert authorizations == ["Bearer sk-abc"]


@pytest.mark.parametrize("api_key", ODD_KEYS.values(), ids=ODD_KEYS.keys())
async def test_a_key_that_cannot_be_sent_is_a_refused_key_n1(server, api_key):
    outcome, authorizations = await _check_key(server, api_key)

    assert outcome.failure == "refused_key"
    assert api_key.strip() not in str(outcome.error)
    assert authorizations == []


@pytest.mark.parametrize(("sent", "is_long"), [("long", True), ("chat", False)])
async def test_a_refusal_without_a_reason_may_be_for_a_long_text_n2(server, sent, is_long):
    quirk = Quirk(
        id="no-reason", source="issue 32", ask="greeting", sent=sent, play=lambda _: refuse("No.")
    )
    session = server.open(quirk)
    async with open_model(session.url) as model:
        outcome = await ask(model, quirk)

    assert outcome.failure == "other"
    assert outcome.may_be_too_long == is_long


def _refuse_over_window(received: Received) -> Reply:
    size = len(str(received.body["messages"])) // 3
    if size <= 8_192:
        return behave(received)
    return refuse(
        f"This model's maximum context length is 8192 tokens. However, you requested {size} tokens.",
        code="context_length_exceeded",
    )


WINDOW = Quirk(id="window", source="part 1.3", ask="structured", play=_refuse_over_window)
LONG_DATA = Prompt(
    name="library/title",
    version="1",
    instructions="Give it a title, and list what is to be done.",
    data={"said": "The boiler is broken. " * 4_000, "by": "Ann"},
)


async def test_data_that_can_be_cut_is_cut_to_the_window_a_refusal_names_n2(server):
    session = server.open(WINDOW)
    async with open_model(session.url) as model:
        outcome = await ask_structured(model, LONG_DATA)

    assert outcome.value == Title.model_validate(TITLE)
    assert len(session.bodies) == 2
    assert "Ann" in str(session.bodies[1])


async def test_data_that_can_be_divided_is_left_to_its_caller_n2(server):
    session = server.open(WINDOW)
    async with open_model(session.url) as model:
        outcome = await ask_structured(model, replace(LONG_DATA, is_divisible=True))

    assert outcome.failure == "too_long"
    assert len(session.bodies) == 1


async def test_every_request_bounds_its_answer_n2(server):
    question, greeting, structured = (
        server.open(replace(PLAIN, ask=ask_)) for ask_ in ("question", "greeting", "structured")
    )
    for session in (question, greeting, structured):
        async with open_model(session.url) as model:
            await ask(model, session.quirk)

    for session in (question, greeting, structured):
        for body in session.bodies:
            bounds = [body.get("max_tokens"), body.get("max_completion_tokens")]
            assert any(bound for bound in bounds if bound and bound <= 32_000)


async def test_a_plain_server_is_asked_no_more_than_needed_n1(server):
    session = server.open(PLAIN)
    async with open_model(session.url) as model:
        outcome = await ask(model, PLAIN)

    assert outcome.text == ANSWER
    assert len(session.bodies) == 2


async def test_the_words_of_a_refusal_stay_out_of_our_error_n1(server):
    quirk = Quirk(
        id="words", source="issue 32", ask="greeting", play=lambda _: refuse("Ann is a secret.")
    )
    session = server.open(quirk)
    async with open_model(session.url) as model:
        outcome = await ask(model, quirk)

    assert isinstance(outcome.error, ModelFailed)
    assert "secret" not in str(outcome.error)


async def test_many_questions_at_once_are_all_answered_while_a_form_is_learned_n1(server):
    quirk = QUIRKS["order/no-system-role-vllm"]
    session = server.open(quirk)
    async with open_model(session.url) as model:
        outcomes = list[Outcome]()

        async def ask_once() -> None:
            outcomes.append(await ask(model, quirk))

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(ask_once)

    for outcome in outcomes:
        _check_end(outcome, quirk)
    assert len(outcomes) == 8


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = (
    *(
        ("choices",),
        ("usage",),
        ("error",),
        ("model",),
        ("service_tier",),
        ("object",),
        ("message",),
    ),
    *(
        ("choices", 0),
        ("choices", 0, "delta"),
        ("choices", 0, "finish_reason"),
        ("choices", 0, "index"),
    ),
    *(("choices", 0, "message"), ("choices", 0, "text"), ("choices", 0, "delta", "content")),
    *(("choices", 0, "delta", "tool_calls"), ("choices", 0, "delta", "reasoning_details")),
    *(("choices", 0, "delta", "reasoning"), ("choices", 0, "delta", "function_call")),
    *(
        ("choices", 0, "delta", "refusal"),
        ("choices", 0, "delta", "role"),
        ("usage", "prompt_tokens"),
    ),
    *(("usage", "prompt_tokens_details"), ("choices", 0, "delta", "tool_calls", 0)),
    *(
        ("choices", 0, "delta", "tool_calls", 0, field)
        for field in ("index", "id", "type", "function")
    ),
    *(
        ("choices", 0, "delta", "tool_calls", 0, "function", field)
        for field in ("name", "arguments")
    ),
)
FAILURES = {*get_args(FailureReason), "unavailable"}


def _put(chunk: Any, path: Sequence[Any], content: Any) -> Any:
    """Return a chunk that holds something else in one place."""
    if not path:
        return content
    first, *rest = path
    if isinstance(first, int):
        return [_put(chunk[0] if chunk else {}, rest, content)]
    return {**(chunk or {}), first: _put((chunk or {}).get(first), rest, content)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd=st.lists(st.tuples(st.sampled_from(FIELDS), JSON), min_size=1, max_size=5))
def test_whatever_a_chunk_holds_ends_a_stream_or_fails_as_ours_n1(server, odd):
    chunks = [_put(build_chunk(), path, content) for path, content in odd]
    reply = stream(*chunks, *build_text_chunks(GREETING))
    _check_any_end(server, Quirk(id="odd", source="W09", ask="greeting", play=lambda _: reply))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=st.sampled_from([200, 400, 401, 404, 413, 422, 429, 500, 503]), body=JSON)
def test_whatever_a_body_holds_fails_as_ours_n1(server, status, body):
    reply = send_json(body, status)
    _check_any_end(server, Quirk(id="odd", source="W37", ask="greeting", play=lambda _: reply))


def _check_any_end(server: QuirkyOpenai, quirk: Quirk) -> None:
    async def ask_once() -> Outcome:
        async with open_model(session.url) as model:
            return await ask(model, quirk)

    session = server.open(quirk)
    outcome = anyio.run(ask_once)

    assert outcome.failure in FAILURES or outcome.reason in get_args(FinishReason)
    assert len(session.bodies) <= 4
