"""Blocks of a context: the values that a turn's input is built from, before they are fitted to a window; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any

from pydantic_core import to_json

from functions.chat.context.numbering import Numbering
from shared.domain.ids import FileId, MemoryId
from shared.domain.models.model import (
    UNKNOWN_MODEL,
    AssistantTurn,
    ModelFacts,
    ModelMessage,
    Picture,
    SystemText,
    ToolCall,
    ToolResult,
    UserText,
)
from shared.domain.models.tokens import estimate_tokens
from shared.domain.value import value

MESSAGE_TOKENS = 4
"""Tokens that a message costs beside its text."""
MIN_CUT_TOKENS = 200
"""Nothing is cut to less: the head and tail of a text still say what it was."""


@value
class FileNote:
    """A file that the model is not given, as it reads of it: `chars` is the length of its text."""

    id: str
    name: str
    chars: int


@value
class EarlierMessage:
    """An earlier message of the chat as the model reads it: kept as a whole, or left out.

    An answer may be several: its calls, their results, and its text. `tokens` is the size of all.
    `files` are those whose text it gives.
    """

    messages: tuple[ModelMessage, ...]
    tokens: int
    files: tuple[FileNote, ...] = ()


@value
class GivenDocument:
    """A file whose text the model is given; it is cited as `number`."""

    number: int
    title: str
    contents: str
    metadata: str = ""
    file_id: FileId | None = None


@value
class GivenPicture:
    """A picture that came with a message, and the line that names it."""

    label: str
    picture: Picture


@value
class Exchange:
    """Calls of this turn and their results, one for each call, in the same order."""

    turn: AssistantTurn
    results: tuple[ToolResult, ...]


@value
class TurnBlocks:
    """The blocks of a turn's input, in the order in which the model reads them.

    `rules` are ours and always first; `focus`, `guidance` (ours, on the subject of the chat), `own_prompt`,
    `owner_rules` and `app_prompt` follow as system messages, the owner's text exactly as it is. `history` is the part of the chat that `summary` does
    not cover, oldest first; `numbering` has the numbers of all documents, in it and beside it. `agent_prompt` stands above the latest message, in each turn anew, and so
    do the files of the chat's project, or `project_notes` that name them. `forgotten_files` were given with messages that are no longer
    in `history`. `files` and `pictures` came with the latest message, which is `details` (what the owner
    allowed to read), `known` (what was found of the library, after an intro of ours, with its documents by number and the ids of its facts), `similar_chats`, `page` (what they look at), all fenced by the caller, `lines` (ours, such
    as the time), `personal_lines` (of the owner and the chat) and `question`, with an `ending` of ours. `known_lines` are shown to people below the answer. `exchanges` are this turn's calls so far. `reminder` is the owner's, and comes
    last, with a `warning` of ours.
    """

    question: str
    rules: str = ""
    focus: str = ""
    guidance: str = ""
    own_prompt: str = ""
    owner_rules: str = ""
    app_prompt: str = ""
    summary: str = ""
    history: tuple[EarlierMessage, ...] = ()
    numbering: Numbering = field(default_factory=Numbering)
    agent_prompt: str = ""
    project_files: tuple[GivenDocument, ...] = ()
    project_notes: tuple[FileNote, ...] = ()
    forgotten_files: tuple[FileNote, ...] = ()
    files: tuple[GivenDocument, ...] = ()
    pictures: tuple[GivenPicture, ...] = ()
    details: str = ""
    known: str = ""
    known_intro: str = ""
    known_documents: Mapping[int, str] = field(default_factory=dict)
    known_lines: Sequence[str] = ()
    ending: str = ""
    known_facts: tuple[MemoryId, ...] = ()
    similar_chats: str = ""
    page: str = ""
    lines: tuple[str, ...] = ()
    personal_lines: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    reminder: str = ""
    warning: str = ""
    facts: ModelFacts = UNKNOWN_MODEL

    @property
    def holds_question_alone(self) -> bool:
        """Tell whether a model is given nothing but the question beside what is the same for everybody."""
        return not any(getattr(self, each.name) for each in fields(self) if each.name not in _OURS)


_OURS = {
    "question",
    "rules",
    "guidance",
    "numbering",
    "lines",
    "warning",
    "facts",
    "known_intro",
    "ending",
}
"""Blocks that say nothing of their owner: any other counts as read, also a new one."""


def build_earlier_message(
    messages: Sequence[ModelMessage], files: Sequence[FileNote] = ()
) -> EarlierMessage:
    """Measure an earlier message once, so that no cycle of a turn measures it again."""
    return EarlierMessage(
        messages=tuple(messages), tokens=count_message_tokens(messages), files=tuple(files)
    )


def count_message_tokens(messages: Sequence[ModelMessage]) -> int:
    """Count the tokens of messages with what each costs beside its text."""
    return sum(map(_count_tokens, messages))


def _count_tokens(message: ModelMessage) -> int:
    match message:
        case AssistantTurn(text=text, tool_calls=calls, given_back=given_back):
            called = sum(map(_count_call, calls)) + _count_fields(given_back)
            return MESSAGE_TOKENS + estimate_tokens(text) + called
        case UserText(text=text, pictures=pictures):
            seen = sum(picture.tokens for picture in pictures) if pictures else 0
            return MESSAGE_TOKENS + estimate_tokens(text) + seen
        case SystemText(text=text) | ToolResult(text=text):
            return MESSAGE_TOKENS + estimate_tokens(text)


def _count_call(call: ToolCall) -> int:
    tokens = estimate_tokens(call.name + call.arguments)
    return MESSAGE_TOKENS + tokens + _count_fields(call.given_back)


def _count_fields(given_back: Mapping[str, Any]) -> int:
    return estimate_tokens(to_json(given_back).decode()) if given_back else 0
