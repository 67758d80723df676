"""Schedules of after-turn events: a summary holds each message once, in any order (P15)."""

from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context import window
from functions.chat.turn.after_turn import after_turn
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import SAFE_WINDOW_TOKENS, ModelFacts, Prompt
from tests.fixtures.chat import ADA, ChatFixture, build_chat_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.chat.chats import GONE_ANSWER, build_after_turn_deps, store_messages

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("store"), st.integers(1, 45)),
        st.tuples(st.sampled_from(["deliver", "down", "refused"]), st.integers(1, 3)),
        st.tuples(st.just("clear"), st.just(1)),
    ),
    max_size=8,
)


class JoiningModel:
    """A model whose summary joins all it reads, so that each message can be counted."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def describe(self, role: str) -> ModelFacts:
        return ModelFacts()

    async def complete_structured(self, role: str, prompt: Prompt, schema: type[Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        if self._error is not None:
            raise self._error
        texts = [message["text"] for message in prompt.data.get("messages", ())]
        summary = " ".join([*prompt.data.get("summary", "").split(), *texts])
        return schema.model_validate({"title": "Chat", "summary": summary})


FAILURES = {"down": Unavailable("down"), "refused": ModelFailed("refused"), "deliver": None}


async def check_steps(world: ChatFixture, steps: list[tuple[str, int]]) -> None:
    expected_texts, stamp = list[str](), 0
    for action, count in steps:
        if action == "store":
            texts = [f"t{stamp + n}" for n in range(count)]
            await store_messages(world, *texts)
            expected_texts, stamp = expected_texts + texts, stamp + count
        elif action == "clear":
            await world.deps().stores.messages.clear(ADA, MAIN_SESSION)
            expected_texts = []
        else:
            model: Any = JoiningModel(FAILURES[action])
            async with anyio.create_task_group() as tasks:
                for _ in range(count):
                    tasks.start_soon(deliver_event, world, model)
        await check_session(world, expected_texts)
    if expected_texts:
        await deliver_event(world, JoiningModel())
        assert (
            await check_session(world, expected_texts)
            <= window.compute_room(SAFE_WINDOW_TOKENS).max_verbatim
        )


async def deliver_event(world: ChatFixture, model: Any) -> None:
    newest = await world.deps().stores.messages.list_newest(ADA, MAIN_SESSION, limit=2)
    answer_id = next((m.id for m in newest if m.sender == "ai"), GONE_ANSWER)
    try:
        await after_turn(
            build_after_turn_deps(world, model), ADA, MAIN_SESSION, answer_id, SAFE_WINDOW_TOKENS
        )
    except Unavailable:
        return


async def check_session(world: ChatFixture, expected_texts: list[str]) -> int:
    """Check that each message is summarised or not, once; return how many are not."""
    session = await world.deps().stores.sessions.get(ADA, MAIN_SESSION)
    if session is None:
        assert expected_texts == []
        return 0
    unsummarised = await world.deps().stores.messages.list_after(
        ADA, MAIN_SESSION, session.summarised_until, limit=1_000
    )
    assert [*session.summary.split(), *(message.text for message in unsummarised)] == expected_texts
    assert len(unsummarised) >= min(len(expected_texts), window.MIN_VERBATIM)
    return len(unsummarised)


@given(STEPS)
def test_each_message_is_either_summarised_once_in_order_or_kept_verbatim_p15(
    steps: list[tuple[str, int]],
) -> None:
    anyio.run(check_steps, build_chat_fixture(MemoryDatabase()), steps)
