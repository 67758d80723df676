"""Failures in words: docs/troubleshoot.md explains what the product can say, by its words or by its kind (U12).

The sentences are read where they are defined: what is raised, what a turn says in place of an answer, what the
console shows.
"""

import builtins
import re
from collections.abc import Iterator, Mapping

from functions.chat import user_texts
from infra.local.routing import ROOT
from shared.domain import errors
from shared.domain.models.model_failure import CAUSES
from shared.edge.declare.problems import STATUS_BY_ERROR
from tests.test_error_texts import read_errors

PAGE = (ROOT / "docs/troubleshoot.md").read_text()
ROW = re.compile(r"^- ((?:`[^`]+`(?:, | or )?)+): \S", re.MULTILINE)
SAID_BY_KIND: Mapping[str, str] = {
    "SettingsError": "\n- **a line that begins with the name of a setting**: ",
    "CannotServeModel": "\n- **a line that begins with `MODEL=` or `SPEECH=`**: ",
    "InvalidTool": "\n- `refused_tools`: ",
    "InvalidManifest": "\n- `502`: ",
}
"""Rows for errors whose sentence itself says what to change."""
SAID_IN_WORDS = {
    *(
        "DatabaseUnusable",
        "EmptyPart",
        "IncompleteTranscript",
        "LimitReached",
        "NotConnected",
        "ProtocolError",
    ),
    "UnreadableFile",
}
NO_FAILURES = {
    *("ALL_MEMORIES", "ANSWER_HAS_MORE", "ANSWER_STOPPED", "ASK_TO_FORGET", "ASK_TO_WIPE", "BUSY"),
    *("CHANGED", "COMMANDS", "CONFIRM_CALL", "DETAILS_REQUESTED", "FORGOTTEN", "GREETING", "HEARD"),
    *("HOW_TO_GO_INCOGNITO", "KNOWN_ALREADY", "MEMORIES_FOUND", "MEMORY_CHANGED", "MEMORY_MADE"),
    *("MORE_FOUND", "NEWEST_ARCS", "NEWEST_MEMORIES", "NOTHING_FORGOTTEN", "NOTHING_REMEMBERED"),
    *(
        "NO_RULES",
        "REMEMBERED",
        "REPLY_ALWAYS",
        "REPLY_ONCE",
        "REPLY_UNDO",
        "RULES",
        "SAID_IN_WORDS",
    ),
    *("SEARCH_FOR", "SOURCES", "SUMMARIES_CHANGED", "TASK_CHANGED", "TASK_DONE", "TASK_MADE"),
    *(
        "TASK_REOPENED",
        "TRY_IN",
        "TRY_LATER",
        "UNDO",
        "UNDONE",
        "WHICH_TO_FORGET",
        "WIPED",
        "WIPE_WORDS",
    ),
    *("WRITTEN_AFTER_READING", "WRITTEN_BY_APP", "WRITTEN_BY_OWNER"),
}
"""Sentences of a chat that ask, tell or confirm."""
THROWN = re.compile(
    r'(?:new (?:Problem|Error)\(|WORDS\[code\] \?\? |^  [A-Z]\w+: |^const REFUS\w+ = )t\("([^"]+)"',
    re.MULTILINE,
)
INSIDE = {
    *("AlreadyExists", "CannotUnwrap", "FrozenInstanceError", "KeysChanged", "MalformedDocument"),
    "ModelOutage",
    *(
        "PreconditionFailed",
        "SlotMismatch",
        "TooManySteps",
        "_Contended",
        "_Stopped",
        "_Unreadable",
    ),
}
"""Errors that are caught before anybody reads them."""
FOR_OTHERS = {
    *(
        "CannotRunError",
        "PydanticCustomError",
        "ServiceItemExists",
        "ServiceItemNotFound",
        "ToolCallError",
    ),
    "ToolRefused",
}
"""Errors for models, programs and our own commands, or a part of another sentence."""
SLOT = re.compile(r"\{\w+\}|…")


def list_messages() -> list[list[str]]:
    """List what the page quotes, each as its pieces around …"""
    messages = re.findall(r"`([^`]*[a-z][^`]*)`", " ".join(ROW.findall(PAGE)))
    return [
        [piece.strip() for piece in message.split("…") if piece.strip()] for message in messages
    ]


def is_quoted(text: str) -> bool:
    return any(holds_in_order(text, pieces) for pieces in list_messages())


def holds_in_order(text: str, pieces: list[str]) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at) + len(piece)
        if at < len(piece):
            return False
    return bool(pieces)


def test_a_message_is_long_enough_to_be_told_from_others_u12() -> None:
    assert [pieces for pieces in list_messages() if len("".join(pieces)) < 8] == []


def test_every_message_that_is_explained_is_said_by_the_code_u12() -> None:
    code = read_code()
    pieces = {piece for pieces in list_messages() for piece in pieces}

    assert len(pieces) > 100
    assert {piece for piece in pieces if piece not in code} == set()


def read_code() -> str:
    """Read all that is written for people: texts over several lines as one, values left out."""
    folders = ("functions", "shared", "infra", "web")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.[pj][ys]")]
    code = "\n".join(path.read_text() for path in [ROOT / "Makefile", *files])
    return re.sub(r'"\n\s+f?"', "", code)


def test_every_error_that_reaches_a_caller_has_a_row_for_its_status_u12() -> None:
    statuses = {*STATUS_BY_ERROR.values(), 500}

    assert {int(status) for status in re.findall(r"^- `(\d{3})`", PAGE, re.MULTILINE)} == statuses


def test_every_error_of_another_kind_is_quoted_or_its_kind_is_explained_u12() -> None:
    unexplained = [
        (kind, text)
        for kind, text in read_errors()
        if kind in SAID_IN_WORDS and re.search(r"\w", text) and not is_quoted(text)
    ]

    assert unexplained == []
    assert [kind for kind, row in SAID_BY_KIND.items() if row not in PAGE] == []


def test_every_class_of_errors_is_explained_by_status_by_kind_or_in_words_u12() -> None:
    with_status = {name for name, kind in vars(errors).items() if is_mapped(kind)} | {
        "build_problem"
    }
    explained = with_status | SAID_IN_WORDS | SAID_BY_KIND.keys() | INSIDE | FOR_OTHERS
    classes = {kind for kind, _ in read_errors() if re.match(r"_?[A-Z]", kind)}

    assert classes - explained - vars(builtins).keys() == set()


def is_mapped(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple(STATUS_BY_ERROR))


def test_every_sentence_in_place_of_an_answer_is_quoted_u12() -> None:
    said = {name: text for name, text in vars(user_texts).items() if name.isupper()}
    failures = [*CAUSES.values(), *(said[name] for name in said.keys() - NO_FAILURES)]

    assert said.keys() >= NO_FAILURES
    assert [text for text in failures if not is_quoted(SLOT.sub("…", text))] == []


def test_every_refusal_of_an_address_is_quoted_u12() -> None:
    code = (ROOT / "shared/security/egress_rules.py").read_text()
    refusals = re.findall(r'(?:return|else) f?"([^"]+\.)"', code)

    assert len(refusals) > 5
    assert [text for text in refusals if not is_quoted(SLOT.sub("…", text))] == []


def test_every_failure_that_the_console_says_is_quoted_u12() -> None:
    texts = list(list_console_failures())

    assert len(texts) > 25
    assert [text for text in texts if not is_quoted(SLOT.sub("…", text))] == []


def list_console_failures() -> Iterator[str]:
    for folder in ("", "views", "read", "sealed"):
        for file in (ROOT / "web" / folder).glob("*.js"):
            yield from THROWN.findall(file.read_text())
