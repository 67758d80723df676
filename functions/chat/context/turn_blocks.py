"""Blocks of a turn: all that its model is given, before it is fitted to a window; pure."""

from functions.chat.context.blocks import EarlierMessage, Exchange, FileNote, GivenDocument
from functions.chat.context.pictures import GivenPicture
from shared.domain.chats.chat import FilePage
from shared.domain.ids import FileId
from shared.domain.models.model import UNKNOWN_MODEL, ModelFacts
from shared.domain.value import value


@value
class TurnBlocks:
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

    @property
    def given_files(self) -> list[FilePage]:
        """The files that it gives whole, by the numbers that they are cited by, from 1."""
        documents = (*self.project_files, *self.files)
        return [FilePage(id=each.file_id or FileId(""), name=each.title) for each in documents]
