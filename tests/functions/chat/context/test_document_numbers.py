"""Numbers of documents: whatever a turn is given, a number opens the document that stands under it (X40)."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context import prompt
from functions.chat.context.given_files import FileText
from functions.chat.context.project_files import ProjectFiles
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import MAIN_SESSION, FileCard, Message
from shared.domain.files.file import File
from shared.domain.ids import FileId, MessageId
from shared.domain.models.model import UserText

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
NUMBERED = re.compile(r'"document": (\d+), "title": "([a-f])"')
FILES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)


def give(name: str) -> FileText:
    file = File(
        id=FileId(name), created_at=NOW, name=name, size=1, parts=(), media_type="text/plain"
    )
    return FileText(file=file, text=f"This is {name}.")


def attach(number: int, names: list[str]) -> Message:
    cards = [
        FileCard(id=FileId(n), created_at=NOW, name=n, media_type="", thumbnail="") for n in names
    ]
    return Message(
        id=MessageId(f"m{number}"),
        session_id=MAIN_SESSION,
        text="Here.",
        sender="human",
        created_at=NOW,
        files=tuple(cards),
    )


@given(st.lists(FILES, max_size=3), FILES, FILES)
def test_a_number_opens_the_document_that_the_model_is_given_under_it_x40(
    history: list[list[str]], project: list[str], question: list[str]
) -> None:
    texts = {FileId(name): give(name) for name in "abcdef"}
    messages = [attach(n, names) for n, names in enumerate(history)]
    context = prompt.build_context(
        "What?", history=messages, profile=Profile(), app=None, texts=texts, now=NOW
    )
    context = prompt.add_owner_blocks(
        context, profile=Profile(), files=[give(name) for name in question], now=NOW
    )
    listed = ProjectFiles(
        files=[give(name).file for name in project], texts=[give(name) for name in project]
    )
    context = listed.give(context)

    given_texts = [m.text for m in context.for_cycle(1) if isinstance(m, UserText)]
    shown = {(int(n), name) for text in given_texts for n, name in NUMBERED.findall(text)}
    cited = set(enumerate((page.name for page in context.given_files), start=1))

    assert {name for _, name in shown} == {*project, *question, *(n for m in history for n in m)}
    assert shown == cited
