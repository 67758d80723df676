"""Whatever comes twice, late, at once or not at all: a summary tells each message once (P15)."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.chat.after_turn import after_turn
from functions.chat.context import history
from shared.domain.chat import MAIN_SESSION
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.model import Prompt
from tests.functions.chat.chats import after, tell
from tests.functions.chat.conftest import ADA, World, open_world

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.integers(1, 45)),
        st.tuples(st.sampled_from(["deliver", "down", "refused"]), st.integers(1, 3)),
        st.tuples(st.just("clear"), st.just(1)),
    ),
    max_size=8,
)


class Joining:
    """A model whose summary is all it was told, in order, so that each word can be accounted for."""

    def __init__(self, fails: Exception | None = None) -> None:
        self._fails = fails

    async def structured(self, role: str, prompt: Prompt, schema: type[Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        if self._fails is not None:
            raise self._fails
        told = [said["text"] for said in prompt.data.get("messages", ())]
        summary = " ".join([*prompt.data.get("summary", "").split(), *told])
        return schema.model_validate({"title": "Chat", "summary": summary})


FAILURES = {"down": Unavailable("down"), "refused": ModelFailed("refused"), "deliver": None}


async def play(world: World, steps: list[tuple[str, int]]) -> None:
    told, stamp = list[str](), 0
    for what, count in steps:
        if what == "tell":
            texts = [f"t{stamp + n}" for n in range(count)]
            await tell(world, *texts)
            told, stamp = told + texts, stamp + count
        elif what == "clear":
            await world.deps().messages.clear(ADA, MAIN_SESSION)
            told = []
        else:
            model: Any = Joining(FAILURES[what])
            async with anyio.create_task_group() as tasks:
                for _ in range(count):
                    tasks.start_soon(deliver, world, model)
        await check(world, told)
    if told:
        await deliver(world, Joining())
        assert await check(world, told) <= history.FULL


async def deliver(world: World, model: Any) -> None:
    try:
        await after_turn(after(world, model), ADA, MAIN_SESSION)
    except Unavailable:
        return


async def check(world: World, told: list[str]) -> int:
    """Account for each message; return how many are not summarised."""
    session = await world.deps().sessions.get(ADA, MAIN_SESSION)
    if session is None:
        assert told == []
        return 0
    rest = await world.deps().messages.following(
        ADA, MAIN_SESSION, session.summarised_until, limit=1_000
    )
    assert [*session.summary.split(), *(message.text for message in rest)] == told
    assert len(rest) >= min(len(told), history.KEPT)
    return len(rest)


@settings(max_examples=60)
@given(STEPS)
def test_p15_each_message_is_summarised_once_and_in_order_or_stands_verbatim(
    steps: list[tuple[str, int]],
) -> None:
    with TemporaryDirectory() as folder:
        anyio.run(play, open_world(Path(folder)), steps)
