"""Files of a turn: those that came with its question, and those of the messages before it.

Also called: file attachments.
"""

from asyncio import gather
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from functions.chat.context.blocks import FileNote
from functions.chat.context.budget import compute_budget
from functions.chat.context.given_files import (
    FileText,
    FileTexts,
    build_note,
    join_pages,
    select_given,
)
from functions.chat.context.project_files import ProjectFiles
from functions.chat.deps import ChatDeps
from shared.domain.chats.chat import FileCard, Message
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.errors import Conflict, Invalid, NotFound, TooLarge
from shared.domain.files.file import File
from shared.domain.ids import FileId, ProjectId, UserId
from shared.domain.models.model import ModelFacts, Picture
from shared.domain.value import value
from shared.library.files import (
    PICTURE_TYPE,
    build_thumbnail_address,
    load_pages,
    load_picture,
)

SEARCHED_AS_WELL = "Ask without attaching it: your files are searched as well."
ATTACH_SHORTER = "Attach a shorter part of it, or use a model with a larger window."


@value
class TurnFiles:
    """The files of a turn: `of_question` came with it; of the `forgotten` only the names are given.

    `texts` are those of the question and of the messages that the model reads.
    """

    of_question: Sequence[File]
    texts: FileTexts
    forgotten: Sequence[FileNote]


async def find_files(
    deps: ChatDeps, uid: UserId, ids: Sequence[str], *, may_be_gone: bool
) -> list[File]:
    """Return the files of a question, which were read.

    Raises NotFound unless they `may_be_gone`, Conflict for one that is still being read, and Invalid
    for one that was rejected.
    """
    if not ids:
        return []
    wanted = list(dict.fromkeys(ids))
    files = [file for file in await deps.stores.files.find_all(uid, wanted) if file]
    if len(files) < len(wanted) and not may_be_gone:
        raise NotFound("A file of your message is not there any more. Please send it again.")
    for file in files:
        if file.status == "rejected":
            raise Invalid(file.reason)
        if file.status == "processing":
            raise Conflict(f"“{file.name}” is still being read. Please ask again in a moment.")
    return files


def check_sizes(files: Sequence[File], facts: ModelFacts, *, can_search: bool) -> None:
    """Raise TooLarge for a file of a question that this model could not read whole, even alone.

    `can_search` says that a model searches files that are not attached.
    """
    budget = compute_budget(facts.window_tokens, ())
    advice = SEARCHED_AS_WELL if can_search else ATTACH_SHORTER
    for file in files:
        if file.token_count > budget:
            raise TooLarge(
                f"“{file.name}” is too long for the model that answers: about {file.token_count} tokens "
                f"of at most {budget}. {advice}"
            )


async def load_files(
    deps: ChatDeps,
    uid: UserId,
    of_question: Sequence[File],
    window: Sequence[Message],
    before_window: Sequence[FileId],
    *,
    max_tokens: int,
) -> TurnFiles:
    """Read the texts of a question's files, and, up to `max_tokens`, of the newest that came with messages of the window.

    The others are named: those that are too many, and those that came `before_window`, the latest last.
    A file that was deleted is neither.
    """
    known = {file.id for file in of_question}
    in_window = [file.id for message in window for file in message.files]
    newest_first = reversed([*before_window, *in_window])
    ids = dict.fromkeys(each for each in newest_first if each not in known)
    found = await deps.stores.files.find_all(uid, list(ids)) if ids else []
    ready = [file for file in found if file and file.status == "ready"]
    given, too_many = select_given((f for f in ready if f.id in in_window), max_tokens)
    forgotten = [*too_many, *(file for file in ready if file.id not in in_window)]
    texts = await gather(*(_load_text(deps, uid, file) for file in (*of_question, *given)))
    return TurnFiles(
        of_question=of_question,
        texts={text.file.id: text for text in texts},
        forgotten=[build_note(file) for file in forgotten],
    )


async def load_project(deps: ChatDeps, uid: UserId, project_id: ProjectId | None) -> ProjectFiles:
    """Read the files of a chat's project, and their texts if a model may be given them whole."""
    if project_id is None:
        return ProjectFiles()
    listed = await deps.stores.projects.list_files(uid, project_id)
    project = ProjectFiles(files=[file for file in listed if file.status == "ready"])
    if not any(project.fit(deps.model.describe(role)) for role in get_args(AgentRole)):
        return project
    texts = await gather(*(_load_text(deps, uid, file) for file in project.files))
    return replace(project, texts=texts)


async def _load_text(deps: ChatDeps, uid: UserId, file: File) -> FileText:
    if file.is_picture:
        return FileText(file=file, picture=await _load_picture(deps, uid, file))
    return FileText(file=file, text=join_pages(await load_pages(deps.blobs, uid, file.id)))


async def _load_picture(deps: ChatDeps, uid: UserId, file: File) -> Picture | None:
    """Return the picture of a file; None where it is being deleted."""
    try:
        content = await load_picture(deps.blobs, uid, file.id)
    except NotFound:
        return None
    return Picture(content=content, media_type=PICTURE_TYPE, tokens=file.token_count)


def build_card(file: File, uid: UserId) -> FileCard:
    return FileCard(
        id=FileId(file.id),
        created_at=file.created_at,
        name=file.name,
        media_type=file.media_type,
        thumbnail=build_thumbnail_address(file, uid),
    )
