"""Turns of a voice session from its events: each once and in order, whenever its words become text."""

from itertools import permutations
from typing import Any

from playwright.sync_api import Page

Event = dict[str, Any]
TAKE_CODE = """async (sequences) => {
  const { SpokenTurns } = await import(moduleAt("/spoken_turns.js"));
  return sequences.map((events) => {
    const spoken = new SpokenTurns();
    const taken = events.map((event) => spoken.take(event));
    return { turns: taken.flatMap(({ turns }) => turns), calls: taken.flatMap(({ calls }) => calls), unkept: spoken.unkept };
  });
}"""


def commit(item_id: str) -> Event:
    return {"type": "input_audio_buffer.committed", "item_id": item_id}


def write(item_id: str, text: str) -> Event:
    name = "conversation.item.input_audio_transcription.completed"
    return {"type": name, "item_id": item_id, "transcript": text}


def fail(item_id: str) -> Event:
    return {"type": "conversation.item.input_audio_transcription.failed", "item_id": item_id}


CREATED: Event = {"type": "response.created", "response": {}}
CALL: Event = {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"}


def finish(item_id: str = "", text: str = "", *calls: Event, status: str = "completed") -> Event:
    content = [{"type": "output_audio", "transcript": text}]
    said = [{"id": item_id, "type": "message", "content": content}] if item_id else []
    return {"type": "response.done", "response": {"status": status, "output": [*said, *calls]}}


def turn(item_id: str, user_text: str, assistant_text: str) -> Event:
    return {"itemId": item_id, "userText": user_text, "assistantText": assistant_text}


def take(page: Page, *events: Event) -> dict[str, Any]:
    (result,) = page.evaluate(TAKE_CODE, [events])
    assert isinstance(result, dict)
    return result


def test_turns_come_in_their_order_whenever_their_words_do_c76(module_page: Page) -> None:
    said = [event for n in "123" for event in (commit(n), CREATED, finish(f"a{n}", f"A{n}"))]
    texts = [write(n, f"Q{n}") for n in "123"]

    results = module_page.evaluate(TAKE_CODE, [[*said, *order] for order in permutations(texts)])

    expected = [turn(f"a{n}", f"Q{n}", f"A{n}") for n in "123"]
    assert [result["turns"] for result in results] == [expected] * 6


def test_what_is_said_while_an_answer_begins_belongs_to_the_next_c76(module_page: Page) -> None:
    result = take(
        module_page,
        *(commit("1"), CREATED, commit("2"), finish("a1", "A1", status="cancelled")),
        *(write("2", "Q2"), write("1", "Q1"), CREATED, finish("a2", "A2")),
    )

    assert result["turns"] == [turn("a1", "Q1", "A1"), turn("a2", "Q2", "A2")]


def test_the_answer_after_a_tool_belongs_to_the_question_before_it_c76(module_page: Page) -> None:
    result = take(
        module_page,
        *(commit("1"), CREATED, finish("", "", CALL), write("1", "Q1"), CREATED),
        finish("a1", "A1"),
    )

    assert result["calls"] == [{"callId": "c", "name": "search", "args": "{}"}]
    assert result["turns"] == [turn("a1", "Q1", "A1")]


def test_a_call_knows_what_was_said_and_not_kept_c76(module_page: Page) -> None:
    result = take(module_page, commit("1"), CREATED, write("1", "Q1"), finish("", "", CALL))

    assert (result["turns"], result["unkept"], len(result["calls"])) == ([], "Q1", 1)


def test_an_answer_to_nothing_understood_is_no_turn_c76(module_page: Page) -> None:
    result = take(
        module_page,
        *(CREATED, finish("a0", "Hello.")),
        *(commit("1"), CREATED, finish("a1", "Pardon?"), fail("1")),
        *(commit("2"), CREATED, finish("a2", "A2"), write("2", "Q2")),
    )

    assert result["turns"] == [turn("a2", "Q2", "A2")]
