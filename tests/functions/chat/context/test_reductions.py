"""Reductions: whatever a turn holds, no request is larger than its window (N2, X27)."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat import user_texts
from functions.chat.context.blocks import (
    FileNote,
    GivenDocument,
    GivenPicture,
    count_message_tokens,
)
from functions.chat.context.budget import (
    NOTE_TOKENS,
    compute_answer_room,
    compute_budget,
    count_tool_tokens,
    cut_text,
)
from functions.chat.context.context import Context
from shared.domain.errors import TooLarge
from shared.domain.models.model import (
    AssistantTurn,
    ModelFacts,
    Picture,
    ToolCall,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.domain.models.tokens import estimate_tokens
from tests.functions.chat.context.test_context import (
    LOOK_UP,
    TEXTS,
    draw_history,
    look_up,
    remember,
)

OWNERS = ("question", "reminder", "own_prompt", "owner_rules", "agent_prompt", "focus")
OTHERS = ("guidance", "app_prompt", "summary", "details", "similar_chats", "page")
WINDOWS = st.one_of(st.sampled_from([4_096, 8_192, 32_768]), st.integers(2_048, 200_000))
TOOLS = st.integers(0, 12).map(
    lambda count: [replace(LOOK_UP, name=f"look_up_{n}") for n in range(count)]
)
SMALLEST = ModelFacts(window_tokens=4_096)


@st.composite
def draw_context(draw: st.DrawFn) -> Context:
    documents = [
        tuple(
            GivenDocument(number=n, title="f", contents=contents)
            for n, contents in enumerate(draw(st.lists(TEXTS, max_size=5)), 1)
        )
        for _ in range(2)
    ]
    picture = Picture(content=b"", media_type="image/webp", tokens=1_200)
    texts: dict[str, Any] = {
        name: draw(st.one_of(st.just(""), TEXTS)) for name in (*OWNERS, *OTHERS)
    }
    context = Context(
        rules="Be kind.",
        history=draw(draw_history()),
        project_files=documents[0],
        project_notes=(FileNote(id="f", name="n" * 90, chars=9),) * draw(st.integers(0, 60)),
        files=documents[1],
        pictures=(GivenPicture(label="p", picture=picture),) * draw(st.integers(0, 4)),
        facts=ModelFacts(window_tokens=draw(WINDOWS), takes_images=draw(st.booleans())),
        **texts,
    )
    for n, text in enumerate(draw(st.lists(TEXTS, max_size=6))):
        context = look_up(context, f"c{n}", text)
    return context


def count_words_of_owner(context: Context) -> int:
    """Count what is never cut, or cut to no less than 220 tokens."""
    kept = sum(min(220, estimate_tokens(getattr(context, name))) for name in OWNERS[2:])
    return kept + sum(estimate_tokens(getattr(context, name)) for name in OWNERS[:2])


@given(context=draw_context(), tools=TOOLS)
def test_no_request_is_larger_than_its_window_n2(context: Context, tools: list[ToolSpec]) -> None:
    """Only where the owner's own words are too many without anything else, it is refused."""
    window = context.facts.window_tokens
    try:
        messages = context.for_cycle(2, tools, searched=True)
    except TooLarge:
        least = count_words_of_owner(context) + 900  # the rules, reminders, frames and names
        assert least > compute_budget(window, tools)
        return

    sent = count_message_tokens(messages) + sum(map(count_tool_tokens, tools))
    assert sent <= window - compute_answer_room(window)
    assert any(m.text.endswith(context.question) for m in messages if isinstance(m, UserText))


def test_what_others_wrote_is_cut_before_the_owners_words_n2() -> None:
    context = Context(
        question="Why?",
        own_prompt="Speak like a captain. " * 100,
        similar_chats="chat " * 500,
        page="begin " + "page " * 3_000 + "end",
        facts=SMALLEST,
    )

    fitted = context.fit(1)

    texts = [message.text for message in fitted.messages]
    assert fitted.left_out == ["similar_chats", "page"]
    assert texts[0] == context.own_prompt
    assert texts[-1].startswith("begin page")
    assert texts[-1].endswith("page end\n\nWhy?")


@pytest.mark.parametrize("block", ["known", "similar_chats", "page"])
def test_what_others_wrote_makes_room_for_the_history_n2(block: str) -> None:
    """It would fit beside the question alone."""
    said = UserText(text="said " * 500)
    texts: dict[str, Any] = {block: "other " * 1_800}
    context = Context(question="Why?", history=(remember(said),), facts=SMALLEST, **texts)

    fitted = context.fit(1)

    assert said in fitted.messages
    assert fitted.left_out == [block]


def test_what_fits_to_the_last_token_is_given_whole_n2() -> None:
    context = Context(question="Why?", known="Ann flies to Lisbon. " * 300)
    tokens = context.count_tokens()
    window = next(each for each in count(tokens) if compute_budget(each, ()) == tokens)

    left_out = [
        replace(context, facts=ModelFacts(window_tokens=size)).fit(1).left_out
        for size in (window - 1, window)
    ]

    assert left_out == [["known"], []]


def test_short_files_lose_their_texts_before_the_question_is_refused_n2() -> None:
    files = tuple(
        GivenDocument(number=n, title=f"note {n}", contents="plank " * 130) for n in range(1, 16)
    )

    document, question = Context(question="Why?", files=files, facts=SMALLEST).for_cycle(1)

    assert '"document": 15' in document.text
    assert question.text == "Why?"


def test_a_project_that_fits_no_more_is_named_and_other_numbers_stay_n2() -> None:
    """A window may turn out to be smaller than it was thought, in the middle of a turn."""
    project = tuple(
        GivenDocument(number=n, title=f"plan {n}", contents="plank " * 2_000) for n in range(1, 30)
    )
    file = GivenDocument(number=30, title="Lease", contents="Ends in May.")
    context = Context(question="When?", project_files=project, files=(file,), facts=SMALLEST)

    names, document, question = context.for_cycle(1)

    assert '"name": "plan 1"' in names.text
    assert '"document": 30' in document.text
    assert question.text == "When?"


def test_pictures_are_named_where_they_do_not_fit_n2() -> None:
    picture = Picture(content=b"", media_type="image/webp", tokens=1_500)
    shown = GivenPicture(label="[picture]", picture=picture)
    facts = replace(SMALLEST, takes_images=True)
    context = Context(question="What is it?", pictures=(shown,) * 3, facts=facts)

    [message] = context.for_cycle(1)

    assert isinstance(message, UserText)
    assert not message.pictures
    assert "You cannot see the pictures" in message.text
    assert replace(context, pictures=(shown,)).for_cycle(1)[0].pictures == (picture,)  # type: ignore[union-attr]


def test_a_message_loses_its_files_and_results_before_the_chat_loses_the_message_n2() -> None:
    call = AssistantTurn(text="", tool_calls=(ToolCall(id="c0", name="look_up", arguments="{}"),))
    found = ToolResult(call_id="c0", text="found " * 2_000)
    lease, plan = [FileNote(id=f"f{n}", name="Lease.pdf", chars=9_000) for n in (1, 2)]
    planned = UserText(text="Out in April."), UserText(text="And why?")
    history = (
        remember(UserText(text="lease " * 2_000), UserText(text="When?"), files=[lease]),
        remember(call, found, AssistantTurn(text="In May.")),
        remember(*planned, files=[plan]),
    )
    context = Context(question="And where?", history=history, facts=SMALLEST)

    *messages, notice, question = context.for_cycle(1)

    assert messages == [UserText(text="When?"), AssistantTurn(text="In May."), *planned]
    assert '"file_id": "f1"' in notice.text
    assert '"file_id": "f2"' not in notice.text
    assert question.text == "And where?"


def test_what_a_provider_wants_back_counts_n2() -> None:
    turn = AssistantTurn(text="", given_back={"reasoning_content": "hm " * 4_000})
    call = ToolCall(id="c", name="a", arguments="{}", given_back={"signature": "x" * 4_000})

    assert count_message_tokens([turn]) > 3_000
    assert count_message_tokens([AssistantTurn(text="", tool_calls=(call,))]) > 1_000


@pytest.mark.parametrize("window", [2_048, 4_096])
def test_calls_of_a_turn_that_no_window_holds_are_told_apart_from_a_long_question_x27(
    window: int,
) -> None:
    reasoning = {"reasoning_content": "hm " * 40_000}
    turn = AssistantTurn(
        text="",
        tool_calls=(ToolCall(id="c", name="look_up", arguments="{}"),),
        given_back=reasoning,
    )
    context = Context(question="Why?", facts=ModelFacts(window_tokens=window)).add_exchange(
        turn, [ToolResult(call_id="c", text="Because.")]
    )

    with pytest.raises(TooLarge) as refusal:
        context.for_cycle(2)

    assert str(refusal.value) == user_texts.TOO_MUCH_CONTEXT


@pytest.mark.parametrize("max_tokens", [0, 10, 100, 500, 1_000, 2_500])
@pytest.mark.parametrize(
    "text",
    [
        "田" * 500 + "word " * 2_000 + "田" * 500,
        "word " * 2_000 + "田" * 1_000,
        "word " * 4_000,
        "田" * 3_000,
    ],
    ids=["dense ends", "a dense tail", "one script", "another script"],
)
def test_a_text_of_several_scripts_is_cut_until_it_fits(text: str, max_tokens: int) -> None:
    shorter = cut_text(text, max_tokens)

    assert estimate_tokens(shorter) <= max(max_tokens, NOTE_TOKENS)
    assert shorter[:1] == text[:1] or max_tokens <= NOTE_TOKENS


def test_a_text_that_fits_is_not_cut() -> None:
    text = "田" * 500 + "word " * 100

    assert cut_text(text, estimate_tokens(text)) == text
