"""Text functions: the work for a hostile text grows with its length, never with its square."""

import gc
import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import Any

import pytest

from functions.chat.consent.consent_reply import parse_reply
from functions.chat.consent.known_text import normalize_text
from functions.chat.consent.time_code import parse_time
from functions.chat.context.citations import strip_markers
from functions.imports.formats import stamps
from functions.tool_proxy.registry.reserved_names import find_reserved_name
from shared.adapters.embedded.offline import answers, extractors
from shared.adapters.embedded.offline.calendar import parse_moment
from shared.adapters.embedded.offline.finds import parse_results
from shared.adapters.embedded.offline.intents import Reading, complete, read_intent
from shared.adapters.embedded.offline.planner import Request, plan
from shared.adapters.embedded.offline.speech import split_sentences, split_words
from shared.domain import words
from shared.domain.conversations.conversation import Segment
from shared.domain.models.tokens import estimate_tokens
from shared.edge.serve import bodies
from shared.library.decoding import UnreadableFile
from shared.library.exclusive_facts import find_exclusive_key
from shared.library.word_text import list_lines
from shared.outbound.untrusted_text import sanitize_error, sanitize_reason, sanitize_result
from shared.reading.crisis_rules import find_crisis
from shared.reading.crisis_verdict import mask_contacts
from shared.retrieval.chunking import split_into_chunks
from shared.retrieval.query import parse_query
from shared.retrieval.sparse import encode_text
from shared.retrieval.terms import fold, tokenize
from shared.security.egress_rules import find_host_refusal
from shared.security.link_filter import LinkFilter, extract_urls
from shared.security.private_data import find_private
from shared.security.secrets import find_secrets, redact_secrets
from shared.security.tool_class import classify_tool
from shared.security.visible_text import strip_invisible
from tests.functions.imports.contents import read_file

CHARS = 10_000
QUICK_S = 0.05
"""Of CPU: what takes less is not measured again. Squares take 0.075 s and more."""
MAX_GROWTH = 3.2
"""For a text of double length: 2 is linear, 4 is quadratic."""
NOW = datetime(2026, 3, 2, tzinfo=UTC)

HOSTILE_UNITS = (
    " ", "\n", "\n ", "a", "A ", "a.", "? ", ", ", "and ", "no, ", "a: ", "1:", "00:01 ", "<", "<v ",
    "[", "[1, ", "![", "](", "`", "„", '"', "'", "http://a.", "://", "x@x.", "Bearer ", "eyJ", "4 ",
    "{", "\u200b", "。", "e\u0301", "\\n", "\n at ", 'File "', "/", "&", "I will ", "my name is ",
    "en ", "am ", "を", "token: ", "one ", "O0 ", "aа", "passport 12 ", "a / ", "AB", "aB", "-", "7", "0", "4111 ", "212-555-0123,", "(199) 099-0000, ", "(1) ", "+1 ", "1.", "-----BEGIN PRIVATE KEY",
)  # fmt: skip
PREFIXES = ("", "I love a")

EXTRACTORS = dict(extractors.EXTRACTORS)
del EXTRACTORS["process_conversation/answer"]  # it does what "answer" and "answer_long" try below


def rewrite_links(text: str) -> None:
    link_filter = LinkFilter(lambda _: False)
    for start in range(0, len(text), 400):
        link_filter.feed(text[start : start + 400])
    link_filter.flush()


def extract(prompt: str) -> Callable[[str], object]:
    """Return what the offline model does with a transcript or a chat of this text."""

    def run(text: str) -> object:
        line = {"text": text, "is_user": True, "speaker": "You", "segment": 0, "sender": "human"}
        data = {
            "transcript": [line],
            "messages": [line],
            "question": text,
            "text": text,
            "summary": text,
            "template": text,
            "overview": text,
            "started_at": f"{NOW:%A %Y-%m-%d %H:%M}",
            "time_zone": "UTC",
            "open_tasks": [text],
            "memories": [text],
            "goal": {"title": text, "current": 1, "target": 2},
            "tasks": [{"task": text}],
            "lines": [{"line": 0, "kind": "decision", "said": text, "conversation": 1}],
            "conversations": [
                {
                    "conversation": 1,
                    "number": 1,
                    "title": text,
                    "overview": text,
                    "minutes": 1,
                    "date": "today",
                }
            ],
        }
        return EXTRACTORS[prompt]({**data, "message": text})

    return run


def build_request(text: str) -> Request:
    return Request(text=text, reading=read_intent(text), now=NOW)


def answer(question: str, passage: str) -> str:
    result = {"results": [{"document": 1, "passages": [passage]}], "memories": [{"text": passage}]}
    found = parse_results([("search_conversations", json.dumps(result))])
    return answers.answer(build_request(question), found)


def import_text(text: str) -> object:
    try:
        return read_file("a.txt", text.encode(errors="replace"))
    except UnreadableFile:
        return None


FUNCTIONS: Mapping[str, Callable[[str], Any]] = {
    "rewrite_links": rewrite_links,
    "extract_urls": extract_urls,
    "strip_markers": lambda text: strip_markers(text, 0),
    "estimate_tokens": estimate_tokens,
    "read_file": import_text,
    "read_cues": lambda text: import_text(f"00:01.000 --> 00:02.000\n{text}"),
    "read_voice": lambda text: import_text(f"00:01.000 --> 00:02.000\n<v{text}"),
    "read_chat": lambda text: import_text(f"27.01.26, 17:03 - Ann: hi\n{text}"),
    "read_chat_list": lambda text: import_text(
        json.dumps([{"sender_name": "Ann", "timestamp_ms": 1.7e12, "content": "hi", "note": text}])
    ),
    "read_mailbox": lambda text: import_text(
        f"From a Mon 2024\nFrom: a\nDate: b\nSubject: c\n\n{text}"
    ),
    "read_mail_sender": lambda text: import_text(
        f"From: {' '.join(text.split())}\nDate: b\nSubject: c\n\nd\n\ne\n"
    ),
    "read_mail_type": lambda text: import_text(
        f"From: a\nDate: b\nSubject: c\nContent-Type: text/plain; charset={' '.join(text.split())}\n\nd\n"
    ),
    "find_date": stamps.find_date,
    "list_lines": lambda text: [*list_lines(text)],
    "list_tags": lambda text: [*list_lines(f"<w:p><w:t>{text}")],
    **{name: extract(name) for name in EXTRACTORS},
    "answer": lambda text: answer("When is it?", text),
    "answer_long": lambda text: answer(text, "It is on Friday."),
    "parse_moment": lambda text: parse_moment(text, NOW),
    "complete": lambda text: complete(text, [text]),
    "read_intent": read_intent,
    "plan": lambda text: plan(build_request(text), [], []),
    "complete_task": lambda text: plan(
        Request(text=text, reading=Reading(intent="complete_task", object=text), now=NOW),
        parse_results([("get_action_items", f"- {text} (open, id a)")]),
        [],
    ),
    "split_sentences": split_sentences,
    "split_words": split_words,
    "count_words": words.count_words,
    "normalise": words.normalise,
    "truncate_words": lambda text: words.truncate_words(text, 9),
    "has_more_values": lambda text: bodies._has_more_values(bytearray(text.encode()), 0),
    "find_exclusive_key": find_exclusive_key,
    "sanitize_result": sanitize_result,
    "sanitize_error": sanitize_error,
    "sanitize_reason": sanitize_reason,
    "split_into_chunks": lambda text: split_into_chunks([Segment(text=text)]),
    "parse_query": parse_query,
    "encode_text": encode_text,
    "fold": fold,
    "tokenize": tokenize,
    "parse_reply": parse_reply,
    "find_host_refusal": find_host_refusal,
    "normalize_text": normalize_text,
    "find_reserved_name": lambda text: find_reserved_name(text, ["Gmail"]),
    "find_private": find_private,
    "find_secrets": find_secrets,
    "redact_secrets": redact_secrets,
    "parse_time": lambda text: parse_time(text, NOW),
    "classify_tool": lambda text: classify_tool(
        text, read_only=False, destructive=False, method="POST"
    ),
    "strip_invisible": strip_invisible,
    "find_crisis": find_crisis,
    "mask_contacts": mask_contacts,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_work_for_a_text_grows_with_its_length_s4(name: str) -> None:
    work = FUNCTIONS[name]
    measure_cpu_s(work, "I like tea.")

    growth = {
        f"{prefix!r} + {unit!r} * n": measure_growth(work, prefix, unit)
        for prefix in PREFIXES
        for unit in HOSTILE_UNITS
    }

    assert {text: factor for text, factor in growth.items() if factor > MAX_GROWTH} == {}


def test_the_work_for_tasks_grows_with_their_number_s4() -> None:
    def extract_tasks(text: str) -> object:
        promises = (f"I will call {n} tomorrow." for n in range(len(text) // 10))
        return extract("process_conversation/extraction")(" ".join(promises))

    assert measure_growth(extract_tasks, "", "a") <= MAX_GROWTH


SPEAKERS = 100
MAX_MORE_OPERATIONS = 2.3
"""For twice as many speakers: 2 is linear."""


def extract_lines(prompt: str) -> Callable[[int], object]:
    """Return what the offline model does with a transcript of so many different speakers."""

    def run(count: int) -> object:
        names = [f"Ann{n} Lee" for n in range(count)]
        said = [f"{name}, could you call the bank about item {n}?" for n, name in enumerate(names)]
        lines = [
            {"text": text, "is_user": n == 1, "speaker": name, "segment": n}
            for n, (name, text) in enumerate(zip(names, [*said[1:], said[0]], strict=True))
        ]
        started_at = f"{NOW:%A %Y-%m-%d %H:%M}"
        return EXTRACTORS[prompt](
            {"transcript": lines, "started_at": started_at, "time_zone": "UTC", "people": names}
        )

    return run


def import_lines(count: int) -> object:
    return import_text(
        "".join(f"27.01.26, 17:03 - Ann{n} Lee: hello everybody\n" for n in range(count))
    )


@pytest.mark.parametrize(
    "work",
    [extract_lines("process_conversation/extraction"), import_lines],
    ids=["extract", "import"],
)
def test_the_work_for_a_transcript_grows_with_its_speakers_s4(
    work: Callable[[int], object],
) -> None:
    work(SPEAKERS)

    few, many = (count_operations(partial(work, count)) for count in (SPEAKERS, 2 * SPEAKERS))

    assert few > 10_000
    assert many / few <= MAX_MORE_OPERATIONS


def count_operations(work: Callable[[], object]) -> int:
    """Count the steps of the interpreter: the same on every machine."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def measure_growth(work: Callable[[str], Any], prefix: str, unit: str) -> float:
    """Return how much more CPU a text of double length takes; 1 where both take next to none."""
    text, longer = (prefix + unit * (chars // len(unit)) for chars in (CHARS, 2 * CHARS))
    first_s = measure_cpu_s(work, text)
    if first_s < QUICK_S:
        return 1.0
    growth = measure_cpu_s(work, longer) / min(first_s, measure_cpu_s(work, text))
    if growth <= MAX_GROWTH:
        return growth
    for _ in range(3):  # beside other work a measurement may be wrong; a square is one each time
        growth = measure_best_s(work, longer) / measure_best_s(work, text)
        if growth <= MAX_GROWTH:
            break
    return growth


def measure_best_s(work: Callable[[str], Any], text: str) -> float:
    return min(measure_cpu_s(work, text) for _ in range(3))


def measure_cpu_s(work: Callable[[str], Any], text: str) -> float:
    """Measure this thread without the collector, which walks what all tests of the process hold."""
    gc.disable()
    started = time.thread_time()
    work(text)
    spent = time.thread_time() - started
    gc.enable()
    return spent
