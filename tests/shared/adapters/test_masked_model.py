"""Masked model: its models read placeholders, and everybody else reads what they stand for."""

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import pytest
from pydantic import BaseModel, Field

from shared.adapters.masked_embedder import MaskedEmbedder
from shared.adapters.masked_model import MaskedModel, MaskedModels
from shared.domain.ids import UserId
from shared.domain.models.masking import Masking
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    Prompt,
    ReasoningDelta,
    SystemText,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.ports import ChatModel
from shared.security.masking import Masker
from tests.fakes import ScriptedModel, UnmaskedModels

ANN, BOB = UserId("ann"), UserId("bob")
SECRET = b"the secret of the server"
MAIL, PHONE, PASSWORD = "ann@example.com", "+49 30 1234567", 'a"b\\c'
LOCAL = ModelFacts(window_tokens=128_000, is_local=True)
END = ModelCallFinished(reason="stop", model="scripted")
QUESTION: list[ModelMessage] = [
    SystemText(text="You are Keepsake."),
    UserText(text=f"Write to {MAIL}."),
]


def bind(
    model: ChatModel, masking: Masking = "on", *, uid: UserId = ANN, chat: str = "main"
) -> ChatModel:
    models = MaskedModels(UnmaskedModels(model=model), masking=masking, secret=SECRET)
    return models.for_user(uid, is_masked=True, chat=chat)


def read_placeholder(model: ScriptedModel, value: str) -> str:
    """Return what a model in this chat reads in the place of a value."""
    bound = bind(model)
    assert isinstance(bound, MaskedModel)
    return bound._masker.mask(value)


async def collect(model: ChatModel, messages: Sequence[ModelMessage]) -> list[ModelEvent]:
    async with model.stream("agent", messages) as events:
        return [event async for event in events]


def list_read_texts(model: ScriptedModel) -> str:
    return repr([(call.messages, call.tools) for call in model.calls]) + repr(model.prompts)


async def test_no_private_value_reaches_the_model_in_any_message_m101():
    model = ScriptedModel((END,))
    call = ToolCall(id="c1", name="send", arguments=json.dumps({"to": MAIL, "note": PASSWORD}))
    tool = ToolSpec(
        name="send",
        description=f"Sends as {MAIL}",
        parameters={"properties": {"from": {"enum": [MAIL]}}},
    )
    messages = [
        *QUESTION,
        AssistantTurn(text=f"Calling {PHONE}", tool_calls=(call,)),
        ToolResult(call_id="c1", text=f'{{"sent": "{MAIL}", "password": "hunter2x"}}'),
    ]

    async with bind(model).stream("agent", messages, [tool]) as events:
        _ = [event async for event in events]

    read = list_read_texts(model)
    assert not any(value in read for value in (MAIL, PHONE, "hunter2x"))
    assert read.count(read_placeholder(model, MAIL)) == 5
    note, rules, *_ = model.calls[0].messages
    assert "placeholder" in note.text
    assert rules == QUESTION[0]


async def test_answer_reasoning_and_calls_come_back_with_the_values_m101():
    plain = ScriptedModel()
    mail, phone = read_placeholder(plain, MAIL), read_placeholder(plain, PHONE)
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in mail)
    model = ScriptedModel(
        (
            ReasoningDelta(f"They want {mail[:4]}"),
            TextDelta("I write to "),
            TextDelta(mail[:7]),
            ReasoningDelta(mail[4:]),
            TextDelta(mail[7:]),
            TextDelta(f", then call {phone}"),
            ToolCallRequested(ToolCall(id="c1", name="send", arguments=f'{{"to":"{escaped}"}}')),
            END,
        )
    )

    events = await collect(
        bind(model), [UserText(text=f"Write to {MAIL}, call {PHONE}. {PHONE[:3]}")]
    )

    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    reasoning = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    assert text == f"I write to {MAIL}, then call {PHONE}"
    assert reasoning == f"They want {MAIL}"
    assert events[-2] == ToolCallRequested(
        ToolCall(id="c1", name="send", arguments=f'{{"to":{json.dumps(MAIL)}}}')
    )
    assert events[-1] == END


async def test_the_beginning_stays_the_same_bytes_in_the_next_turn_m101():
    first, second = ScriptedModel((END,)), ScriptedModel((END,))
    later = [*QUESTION, AssistantTurn(text=f"To {MAIL}?"), UserText(text=f"Yes, and {PHONE}")]

    await collect(bind(first), QUESTION)
    await collect(bind(second), later)

    assert second.calls[0].messages[:3] == first.calls[0].messages


async def test_chats_and_users_have_other_placeholders_m101():
    texts = set()
    for uid, chat in ((ANN, "main"), (ANN, "work"), (BOB, "main")):
        model = ScriptedModel((END,))
        await collect(bind(model, uid=uid, chat=chat), QUESTION)
        texts.add(model.calls[0].messages[-1])

    assert len(texts) == 3


class Kind(StrEnum):
    MAIL = "mail"


class PartOutput(BaseModel):
    to: str = Field(max_length=16)
    kind: Kind = Kind.MAIL


class LetterOutput(BaseModel):
    parts: list[PartOutput]
    names: dict[str, str]
    count: int = 1


async def test_a_structured_answer_is_restored_in_every_field_m101():
    mail = read_placeholder(ScriptedModel(), MAIL)
    answer = {"parts": [{"to": mail}], "names": {"a": f"<{mail}>"}}
    model = ScriptedModel(answers={"chat/title": [answer]})
    prompt = Prompt(
        name="chat/title",
        version="1",
        instructions="Read.",
        data={"messages": [{"text": MAIL}], "tags": frozenset([MAIL]), "count": 3},
    )

    letter = await bind(model).complete_structured("fast", prompt, LetterOutput)

    assert letter == LetterOutput.model_construct(
        parts=[PartOutput.model_construct(to=MAIL, kind=Kind.MAIL)],
        names={"a": f"<{MAIL}>"},
        count=1,
    )
    assert letter.parts[0].kind is Kind.MAIL
    assert MAIL not in list_read_texts(model)
    assert model.prompts[0][1].data["count"] == 3


@pytest.mark.parametrize(
    ("masking", "facts", "is_masked"),
    [
        ("auto", ModelFacts(), True),
        ("auto", LOCAL, False),
        ("on", LOCAL, True),
        ("off", ModelFacts(), False),
    ],
)
async def test_settings_and_place_decide_what_is_masked_m101(
    masking: Masking, facts: ModelFacts, *, is_masked: bool
):
    model = ScriptedModel((END,), facts=facts, answers={"a": [{"parts": [], "names": {}}]})
    bound = bind(model, masking)
    prompt = Prompt(name="a", version="1", instructions="", data={"text": MAIL})

    await collect(bound, QUESTION)
    await bound.complete_structured("fast", prompt, LetterOutput)

    assert (MAIL not in list_read_texts(model)) is is_masked


async def test_a_user_may_want_no_masking_m101():
    model = ScriptedModel((END,))
    models = MaskedModels(UnmaskedModels(model=model), masking="on", secret=SECRET)

    await collect(models.for_user(ANN, is_masked=False), QUESTION)

    assert model.calls[0].messages == tuple(QUESTION)
    assert models.name("agent") == "scripted-agent"
    assert models.describe("agent") == model.facts


async def test_what_a_model_made_up_and_an_owner_typed_stay_m101():
    typed = read_placeholder(ScriptedModel(), MAIL)
    model = ScriptedModel((TextDelta("It is EMAIL-2abcdefg"), END))
    bound = bind(model)

    events = await collect(bound, [UserText(text=f"{typed} is not {MAIL}")])

    assert events[0] == TextDelta("It is EMAIL-2abcdefg")
    assert model.calls[0].messages[-1].text.endswith(f" is not {typed}")
    assert not model.calls[0].messages[-1].text.startswith(typed)


class LengthEmbedder:
    """An embedder whose vectors are the lengths of the texts, which it keeps."""

    name = "length"
    embeds_later = False

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        self.texts += texts
        return [[float(len(text))] for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [vector] = await self.embed(uid, [question])
        return vector


async def test_documents_and_questions_are_masked_alike_for_each_user_m101():
    inner = LengthEmbedder()
    embedder = MaskedEmbedder(inner, secret=SECRET)

    await embedder.embed(ANN, [f"Who has {MAIL}?"])
    for uid in (ANN, BOB):
        await embedder.embed_question(uid, f"Who has {MAIL}?")

    document, question, others = inner.texts
    assert document == question != others
    assert MAIL not in "".join(inner.texts)
    assert embedder.name != inner.name


async def test_a_turn_masks_a_text_once_m101():
    bound = MaskedModel(ScriptedModel((END,), (END,)), Masker(b"key"), also_local=True)
    long_text = UserText(text=f"{MAIL} " * 100)

    await collect(bound, [long_text])
    await collect(bound, [replace(long_text), UserText(text="Go on")])

    assert len(bound._masker._masked_texts) == 2
