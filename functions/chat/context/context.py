"""Context of a turn: all that its model is given, as messages for each cycle; pure.

The order keeps the beginning the same from cycle to cycle and from turn to turn, which the provider's
prompt cache needs: what changes stands at the end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from functions.chat import user_texts
from functions.chat.context.blocks import (
    EarlierMessage,
    Exchange,
    FileNote,
    GivenDocument,
    count_message_tokens,
)
from functions.chat.context.budget import (
    HISTORY_SHARE,
    compute_budget,
    cut_documents,
    cut_results,
    select_newest,
)
from functions.chat.context.documents import (
    build_document_messages,
    build_file_notices,
    build_project_notices,
)
from functions.chat.context.pictures import (
    GivenPicture,
    add_pictures,
    hide_earlier_pictures,
    hide_pictures,
)
from functions.chat.context.reminder import build_reminder
from functions.chat.context.tool_pairs import drop_orphans
from shared import prompts
from shared.domain.chat import FilePage
from shared.domain.errors import TooLarge
from shared.domain.ids import FileId
from shared.domain.model import (
    UNKNOWN_MODEL,
    AssistantTurn,
    ModelFacts,
    ModelMessage,
    SystemText,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.domain.value import value


@value
class Context:
    """The blocks of a turn's input, in the order in which the model reads them.

    `rules` are ours and always first; `focus`, `guidance` (ours, on the subject of the chat), `own_prompt`,
    `owner_rules` and `app_prompt` follow as system messages, the owner's text exactly as it is. `history` is the part of the chat that `summary` does
    not cover, oldest first. `agent_prompt` stands above the latest message, in each turn anew, and so
    do the files of the chat's project, or `project_notes` that name them. `forgotten_files` were given with messages that are no longer
    in `history`. `files` and `pictures` came with the latest message, which is `details` (what the owner
    allowed to read), `similar_chats`, `page` (what they look at), all fenced by the caller, `lines` (facts such
    as the time) and `question`. `exchanges` are this turn's calls so far. `reminder` is the owner's, and comes
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
    agent_prompt: str = ""
    project_files: tuple[GivenDocument, ...] = ()
    project_notes: tuple[FileNote, ...] = ()
    forgotten_files: tuple[FileNote, ...] = ()
    files: tuple[GivenDocument, ...] = ()
    pictures: tuple[GivenPicture, ...] = ()
    details: str = ""
    similar_chats: str = ""
    page: str = ""
    lines: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    reminder: str = ""
    warning: str = ""
    facts: ModelFacts = UNKNOWN_MODEL

    def add_exchange(self, turn: AssistantTurn, results: Sequence[ToolResult]) -> "Context":
        """Return the context after these calls."""
        exchange = Exchange(turn=turn, results=tuple(results))
        return replace(self, exchanges=(*self.exchanges, exchange))

    def for_cycle(
        self, n: int, tools: Sequence[ToolSpec] = (), *, searched: bool = False
    ) -> list[ModelMessage]:
        """Return the messages of model call `n` of the turn, from 1, which offers `tools`.

        `searched` says that a tool of this turn returned documents to cite. They fit the window
        beside the tools and an answer: results of tools are cut, then the oldest history is left
        out, then the files of the message are cut. Raises TooLarge where the rest is too much.
        """
        reminder = build_reminder(
            self.reminder, self.warning, searched=searched, is_last=n > 1 and not tools
        )
        budget = compute_budget(self.facts.window_tokens, tools)
        context = self if self.facts.takes_images else _hide_history_pictures(self)
        required = _cut_to_fit(context, budget, reminder)
        kept, notices = _select_history(context, budget - required.tokens)
        return [
            *required.head,
            *drop_orphans([message for each in kept for message in each.messages]),
            *required.standing,
            *notices,
            *required.latest,
        ]

    @property
    def given_files(self) -> list[FilePage]:
        """The files that it gives whole, by the numbers that they are cited by, from 1."""
        documents = (*self.project_files, *self.files)
        return [FilePage(id=each.file_id or FileId(""), name=each.title) for each in documents]

    def count_tokens(self) -> int:
        """Count the tokens of everything, as if any window held it."""
        return _build_required(self, ()).tokens + _count_history_tokens(self.history)


@value
class _Required:
    """The messages that stand in each cycle: before the history, right after it, and at the end."""

    head: Sequence[ModelMessage]
    standing: Sequence[ModelMessage]
    latest: Sequence[ModelMessage]
    tokens: int


def _build_required(context: Context, reminder: Sequence[UserText]) -> _Required:
    head, standing = _build_head(context), _build_standing_blocks(context)
    latest = [*_build_latest_message(context), *_list_exchanges(context), *reminder]
    tokens = count_message_tokens([*head, *standing, *latest])
    return _Required(head=head, standing=standing, latest=latest, tokens=tokens)


def _cut_to_fit(context: Context, budget: int, reminder: Sequence[UserText]) -> _Required:
    """Return what is required so that it fits, with room for some history. Raises TooLarge."""
    required = _build_required(context, reminder)
    history_room = min(_count_history_tokens(context.history), budget // HISTORY_SHARE)
    missing = required.tokens + history_room - budget
    if missing > 0:
        context = replace(context, exchanges=tuple(cut_results(context.exchanges, missing)))
        required = _build_required(context, reminder)
    excess = required.tokens - budget
    if excess > 0:
        context = replace(context, files=tuple(cut_documents(context.files, excess)))
        required = _build_required(context, reminder)
    if required.tokens > budget:
        raise TooLarge(user_texts.TOO_MUCH_FOR_MODEL)
    return required


def _select_history(
    context: Context, room: int
) -> tuple[Sequence[EarlierMessage], Sequence[UserText]]:
    """Return the newest history that fits beside the names of the files that do not."""
    kept = select_newest(context.history, room)
    while True:
        dropped = context.history[: len(context.history) - len(kept)]
        left_out = [file for message in dropped for file in message.files]
        notices = build_file_notices([*context.forgotten_files, *left_out])
        notice_tokens = count_message_tokens(notices)
        if notice_tokens + _count_history_tokens(kept) <= room:
            return kept, notices
        if not kept:
            return (), ()
        kept = select_newest(kept, room - notice_tokens)


def _count_history_tokens(history: Sequence[EarlierMessage]) -> int:
    return sum(message.tokens for message in history)


def _build_head(context: Context) -> list[ModelMessage]:
    system_texts = (
        context.rules,
        context.focus,
        context.guidance,
        context.own_prompt,
        context.owner_rules,
        context.app_prompt,
    )
    summary = [UserText(text=context.summary)] if context.summary else []
    return [*(SystemText(text=text) for text in system_texts if text), *summary]


def _build_standing_blocks(context: Context) -> list[UserText]:
    """Return what each turn sees anew right above its latest message."""
    agent = [UserText(text=context.agent_prompt)] if context.agent_prompt else []
    documents = build_document_messages(context.project_files)
    return [*agent, *documents, *build_project_notices(context.project_notes)]


def _build_latest_message(context: Context) -> list[ModelMessage]:
    """Return the message with what it came with; the question stands last."""
    lines = "\n".join(context.lines)
    facts = prompts.render("chat/context", context=lines) if lines else ""
    data = [context.details, context.similar_chats, context.page]
    text = "\n\n".join(filter(None, [*data, facts, context.question]))
    message: ModelMessage = add_pictures(UserText(text=text), context.pictures)
    message = message if context.facts.takes_images else hide_pictures(message)
    return [*build_document_messages(context.files), message]


def _hide_history_pictures(context: Context) -> Context:
    return replace(context, history=tuple(map(hide_earlier_pictures, context.history)))


def _list_exchanges(context: Context) -> Iterator[ModelMessage]:
    for exchange in context.exchanges:
        yield exchange.turn
        yield from exchange.results
