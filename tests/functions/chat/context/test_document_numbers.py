"""Numbers of documents: whatever a turn is given, a number opens the document that stands under it (X40, E4)."""

import re
from datetime import UTC, datetime
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context import prompt
from functions.chat.context.citations import CitationRewriter, Citations, strip_markers
from functions.chat.context.context import Context
from functions.chat.context.given_files import FileText
from functions.chat.context.project_files import ProjectFiles
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import (
    MAIN_SESSION,
    Card,
    FileCard,
    FileCitation,
    FilePage,
    Message,
    NumberedDocument,
)
from shared.domain.files.file import File
from shared.domain.ids import ConversationId, FileId, MessageId
from shared.domain.models.model import AssistantTurn, Picture, UserText
from shared.domain.value import value

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
NUMBERED = re.compile(r'"document": (\d+), "title": "([a-f])"')
FILES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)


def give(name: str) -> FileText:
    file = File(
        id=FileId(name), created_at=NOW, name=name, size=1, parts=(), media_type="text/plain"
    )
    picture = Picture(content=name.encode(), media_type="image/webp", tokens=9)
    return FileText(file=file, text=f"This is {name}.", picture=picture)


def attach(number: int, names: list[str]) -> Message:
    cards = [
        FileCard(id=FileId(n), created_at=NOW, name=n, media_type="", thumbnail="") for n in names
    ]
    return build_message(f"m{number}", "human", "Here.", files=tuple(cards))


def build_message(name: str, sender: Literal["human", "ai"], text: str, **fields: Any) -> Message:
    return Message(
        id=MessageId(name),
        session_id=MAIN_SESSION,
        text=text,
        sender=sender,
        created_at=NOW,
        **fields,
    )


def build_turn(history: list[Message], project: list[str], question: list[str]) -> Context:
    texts = {FileId(name): give(name) for name in "abcdef"}
    context = prompt.build_context(
        "What?", history=history, profile=Profile(), app=None, texts=texts, now=NOW
    )
    context = prompt.add_owner_blocks(
        context, profile=Profile(), files=[give(name) for name in question], now=NOW
    )
    listed = ProjectFiles(
        files=[give(name).file for name in project], texts=[give(name) for name in project]
    )
    return listed.give(context)


def list_given(context: Context) -> set[tuple[int, str]]:
    """Return the numbers and names of the documents that the model reads."""
    given_texts = [m.text for m in context.for_cycle(1) if isinstance(m, UserText)]
    return {(int(n), name) for text in given_texts for n, name in NUMBERED.findall(text)}


@given(st.lists(FILES, max_size=3), FILES, FILES)
def test_a_number_opens_the_document_that_the_model_is_given_under_it_x40(
    history: list[list[str]], project: list[str], question: list[str]
) -> None:
    messages = [attach(n, names) for n, names in enumerate(history)]

    context = build_turn(messages, project, question)

    shown = list_given(context)
    assert {name for _, name in shown} == {*project, *question, *(n for m in history for n in m)}
    assert shown == {(n, source.id) for n, source in context.numbering.sources.items()}


@given(FILES, FILES)
def test_every_picture_of_the_project_and_of_the_question_is_given_once_x12(
    project: list[str], question: list[str]
) -> None:
    context = build_turn([], project, question)

    shown = sorted(each.picture.content.decode() for each in context.pictures)
    assert shown == sorted({*project, *question})


@value
class Turn:
    """What a turn is given: files with its question and of the project, and conversations that its tools find.

    Of all it cites those at these places.
    """

    question: list[str]
    project: list[str]
    found: list[str]
    cited: list[int]


TURNS = st.lists(
    st.builds(
        Turn,
        question=FILES,
        project=FILES,
        found=st.lists(st.sampled_from("uvwxyz"), unique=True, max_size=3),
        cited=st.lists(st.integers(0, 9), unique=True, max_size=3),
    ),
    min_size=2,
    max_size=6,
)


@given(TURNS)
def test_a_number_means_one_document_in_all_turns_of_a_chat_e4(turns: list[Turn]) -> None:
    history: list[Message] = []
    meaning: dict[int, str] = {}
    for place, turn in enumerate(turns):
        context = build_turn(history, turn.project, turn.question)
        citations = Citations(context.numbering.copy())
        found = [(citations.assign_number(build_card(name)), name) for name in turn.found]
        for number, name in {*list_given(context), *found}:
            assert meaning.setdefault(number, name) == name
        for answer in (m.text for m in context.for_cycle(1) if isinstance(m, AssistantTurn)):
            assert all(meaning[int(n)] == name for name, n in CITED.findall(answer))

        history += [attach(place, turn.question), answer_turn(place, turn, citations)]

    assert len(set(meaning.values())) == len(meaning)


CITED = re.compile(r"It says (\w)\[(\d+)\]")


def answer_turn(place: int, turn: Turn, citations: Citations) -> Message:
    """Return the stored answer of a turn that cites what it was given."""
    numbers = sorted(citations.numbering.sources)
    chosen = [numbers[at % len(numbers)] for at in turn.cited] if numbers else []
    rewriter = CitationRewriter(citations.render_marker)
    said = [f"It says {citations.numbering.sources[n].id}[{n}]." for n in chosen]
    marked = rewriter.feed(" ".join(said)) + rewriter.flush()
    sources = list(enumerate(citations.shown, 1))
    given = citations.numbering.list_after(citations.numbering.stored)
    return build_message(
        f"a{place}",
        "ai",
        strip_markers(marked, len(sources)),
        marked_text=marked,
        cards=tuple(each for _, each in sources if isinstance(each, Card)),
        file_citations=tuple(
            FileCitation(number=n, file=each) for n, each in sources if isinstance(each, FilePage)
        ),
        documents=tuple(given),
        last_number=citations.numbering.last,
    )


def build_card(name: str) -> Card:
    return Card(id=ConversationId(name), created_at=NOW, title=name, emoji="")


def test_an_answer_reads_by_the_numbers_of_the_chat_without_what_our_code_added_e4() -> None:
    talk = build_card("talk")
    answer = build_message(
        "a1",
        "ai",
        "Lena called. That is all.\n\nYour file is gone.",
        model_text="Lena called. That is all.",
        marked_text="Lena called[1]. That is all[1].\n\nYour file is gone.",
        cards=(talk,),
        documents=(NumberedDocument(number=7, kind="conversation", id="talk"),),
        last_number=9,
    )

    context = build_turn([answer], ["b"], [])

    [said] = [m.text for m in context.for_cycle(1) if isinstance(m, AssistantTurn)]
    assert said == "Lena called[7]. That is all[7]."
    assert list_given(context) == {(10, "b")}


def test_two_answers_at_once_that_gave_one_number_are_told_apart_e4() -> None:
    answers = [
        build_message(
            f"a{n}",
            "ai",
            "So it is.",
            marked_text="So it is[1].",
            cards=(build_card(name),),
            documents=(NumberedDocument(number=1, kind="conversation", id=name),),
            last_number=1,
        )
        for n, name in enumerate(["u", "v"])
    ]

    context = build_turn(answers, [], [])

    said = [m.text for m in context.for_cycle(1) if isinstance(m, AssistantTurn)]
    assert said == ["So it is[1].", "So it is[2]."]
    assert [(each.number, each.id) for each in context.numbering.list_after(0)] == [
        (1, "u"),
        (2, "v"),
    ]
    assert context.numbering.sources == {}, "what is not given again may be deleted by now"
