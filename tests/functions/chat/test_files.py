"""Files in chats: given with their question and above it later, read and searched by tools (X10, X16)."""

import json

import pytest

from functions.chat.tools.builtin_tool import MORE_HITS
from functions.chat.tools.file_tools import MAX_FOUND
from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.files.file import File, FileStatus, Page
from shared.domain.files.upload import BlobPart
from shared.domain.ids import FileId
from shared.domain.models.model import (
    SAFE_WINDOW_TOKENS,
    ModelFacts,
    ModelMessage,
    ToolResult,
    UserText,
)
from shared.library.files import PICTURE_TYPE, picture_path, store_pages
from shared.retrieval.page_passages import split_into_passages
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.chats import (
    GONE_ANSWER,
    build_after_turn_deps,
    load_session,
    number_texts,
    script_summaries,
    store_messages,
)
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_versions import UI, open_chat


async def store_file(
    world: ChatFixture,
    name: str,
    *pages: str,
    status: FileStatus = "ready",
    reason: str = "",
    tokens: int = 9,
) -> FileId:
    """Store a file as it is once it was read."""
    deps = world.deps()
    texts = [Page(number=n, text=text) for n, text in enumerate(pages, 1)]
    passages = split_into_passages(texts)
    file = File(
        id=FileId(name),
        created_at=world.clock.now(),
        name=f"{name}.pdf",
        size=4,
        parts=(BlobPart(path=f"users/ada/uploads/{name}/0", size=4),),
        media_type="application/pdf",
        status=status,
        reason=reason,
        page_count=len(pages),
        char_count=sum(map(len, pages)),
        token_count=tokens,
        chunk_count=len(passages),
    )
    await deps.stores.files.add(ADA, file)
    await store_pages(deps.blobs, ADA, file.id, texts)
    await deps.file_index.put(ADA, file, passages)
    return file.id


def list_texts(messages: list[ModelMessage]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserText)]


async def test_files_stand_above_their_question_in_one_message_x16(world: ChatFixture) -> None:
    names = [await store_file(world, name, f"About {name}.") for name in ("keel", "mast", "sail")]

    turn = await prepare_turn(world.deps(), ADA, Question("What is it about?", file_ids=names))

    documents, question = list_texts(turn.context.for_cycle(1))[-2:]
    assert [f'"document": {n}' in documents for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert "About mast." in documents
    assert question.endswith("What is it about?")


async def test_a_file_stays_above_its_question_in_later_turns_x10(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.", "It is long.")
    with ScriptedModel(script_answer("Of oak.")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("What is it of?", file_ids=[keel])
            shown = await chat.list_shown()

    assert [file["name"] for file in shown[-2]["files"]] == ["keel.pdf"]
    turn = await prepare_turn(world.deps(), ADA, Question("And now?"))
    file, question, *_ = list_texts(turn.context.for_cycle(1))
    assert "[page 2]\\nIt is long." in file
    assert question == "What is it of?"

    await world.deps().stores.files.take_out(ADA, keel)
    turn = await prepare_turn(world.deps(), ADA, Question("And now?"))
    assert list_texts(turn.context.for_cycle(1))[0] == "What is it of?"


async def test_each_file_of_a_chat_is_cited_by_a_number_of_its_own_x40(world: ChatFixture) -> None:
    codes = {"boiler": "4417", "garage": "2291", "alarm": "6035"}
    for name, code in codes.items():
        await store_file(world, name, f"The {name} code is {code}.")
    answers = [script_answer("Noted.")] * 2 + [script_answer("The boiler's is 4417[1].")]
    with ScriptedModel(*answers) as model:
        async with open_chat(world, model) as chat:
            for name in codes:
                await chat.ask(f"Here is {name}.", file_ids=[FileId(name)])
                world.clock.advance(seconds=5)
            shown = await chat.list_shown()

    texts = list_texts(list(model.calls[2].messages))
    numbers = {
        name: number
        for name in codes
        for number in range(1, 4)
        if any(f'"document": {number}, "title": "{name}.pdf"' in text for text in texts)
    }
    assert numbers == {"boiler": 1, "garage": 2, "alarm": 3}
    [cited] = shown[-1]["metadata"]["file_citations"]
    assert cited["name"] == "boiler.pdf"


async def test_a_file_of_a_deleted_chat_stays_in_the_other_chats_p16(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.")
    with ScriptedModel(script_answer("Of oak."), script_answer("Still of oak.")) as model:
        async with open_chat(world, model) as chat:
            created = await chat.http.post("/v2/chat-sessions", json={})
            other = created.json()["id"]
            question = {"text": "What is it of?", "file_ids": [keel]}
            await chat.http.post(f"/v2/messages?chat_session_id={other}", json=question)
            await chat.ask("And here?", file_ids=[keel])
            assert len(await chat.list_shown(chat_session_id=other)) == 2
            await chat.http.delete(f"/v2/chat-sessions/{other}")

    turn = await prepare_turn(world.deps(), ADA, Question("And now?"))
    assert "The keel is of oak." in list_texts(turn.context.for_cycle(1))[0]


async def test_another_version_of_a_question_goes_on_without_a_file_that_is_gone(
    world: ChatFixture,
) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.")
    with ScriptedModel(script_answer("Of oak."), script_answer("I cannot say.")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("What is it of?", file_ids=[keel])
            answer = (await chat.list_shown())[-1]
            await world.deps().stores.files.take_out(ADA, keel)
            await chat.add_version(answer["id"])

            assert (await chat.list_shown())[-1]["text"] == "I cannot say."


@pytest.mark.parametrize(("window_tokens", "tokens"), [(128_000, 60_000), (16_000, 8_000)])
async def test_large_files_of_long_ago_are_named_and_not_read_x28(
    world: ChatFixture, window_tokens: int, tokens: int
) -> None:
    names = [
        await store_file(world, name, f"About {name}.", tokens=tokens) for name in ("old", "new")
    ]
    facts = ModelFacts(window_tokens=window_tokens)
    with ScriptedModel(script_answer("Yes."), script_answer("Yes."), facts=facts) as model:
        async with open_chat(world, model) as chat:
            for name in names:
                world.clock.advance(seconds=1)
                await chat.ask("Is it here?", file_ids=[name])

        turn = await prepare_turn(world.deps(model), ADA, Question("And now?"))

    texts = list_texts(turn.context.for_cycle(1))
    [notice] = [text for text in texts if "read_file reads it by its id" in text]
    assert '"file_id": "old"' in notice
    assert not any("About old." in text for text in texts)
    assert any("About new." in text for text in texts)


async def store_picture(world: ChatFixture) -> FileId:
    deps = world.deps()
    picture = File(
        id=FileId("roof"), created_at=world.clock.now(), name="roof.png", size=4,
        media_type="image/png", status="ready", width=640, height=480, token_count=1_232,
    )  # fmt: skip
    await deps.stores.files.add(ADA, picture)
    await deps.blobs.write(picture_path(ADA, picture.id), b"webp", media_type=PICTURE_TYPE)
    return picture.id


@pytest.mark.parametrize("later", [31, 90])
async def test_a_file_whose_message_a_summary_covers_is_named_and_can_be_read_x28(
    world: ChatFixture, later: int
) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.")
    with ScriptedModel(script_answer("Of oak.")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("What is it of?", file_ids=[keel])
    world.clock.advance(minutes=1)
    await store_messages(world, *number_texts(later))
    summaries = script_summaries(*["About a boat."] * (later // 20))
    with ScriptedModel(answers=summaries) as model:
        await after_turn(
            build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER, SAFE_WINDOW_TOKENS
        )
    assert (await load_session(world)).summary == "About a boat."

    turn = await prepare_turn(world.deps(), ADA, Question("And what was it of?"))

    texts = list_texts(turn.context.for_cycle(1))
    [named] = [text for text in texts if "keel.pdf" in text]
    assert '{"file_id": "keel", "name": "keel.pdf", "chars": 19}' in named
    assert "The keel is of oak." not in "".join(texts)

    await world.deps().stores.files.take_out(ADA, keel)
    turn = await prepare_turn(world.deps(), ADA, Question("And what was it of?"))
    assert "keel.pdf" not in "".join(list_texts(turn.context.for_cycle(1)))


@pytest.mark.parametrize("takes_images", [True, False])
async def test_a_picture_comes_with_its_message_for_models_that_see_x11(
    world: ChatFixture, *, takes_images: bool
) -> None:
    roof = await store_picture(world)
    facts = ModelFacts(window_tokens=128_000, takes_images=takes_images)
    with ScriptedModel(script_answer("A roof."), facts=facts) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("What is it?", file_ids=[roof])
            first = model.calls[0].messages[-1]
        turn = await prepare_turn(world.deps(model=model), ADA, Question("And now?"))

    earlier = next(m for m in turn.context.for_cycle(1) if isinstance(m, UserText))
    for message in (first, earlier):
        assert isinstance(message, UserText)
        assert '[picture "roof.png", 640 × 480 pixels]' in message.text
        assert ("You cannot see the pictures" in message.text) is not takes_images
        assert [each.content for each in message.pictures] == [b"webp"] * takes_images


async def test_a_picture_that_was_deleted_is_not_in_the_question_any_more_x11(
    world: ChatFixture,
) -> None:
    roof = await store_picture(world)
    await world.deps().blobs.delete_tree(picture_path(ADA, roof))

    turn = await prepare_turn(world.deps(), ADA, Question("What is it?", file_ids=[roof]))

    assert list_texts(turn.context.for_cycle(1))[-1].endswith("What is it?")


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        ("processing", Conflict, "is still being read"),
        ("rejected", Invalid, "It is broken."),
        (None, NotFound, "is not there any more"),
    ],
)
async def test_a_file_that_cannot_be_given_refuses_its_question(
    world: ChatFixture, status: FileStatus | None, error: type[Exception], told: str
) -> None:
    if status is not None:
        await store_file(world, "keel", status=status, reason="It is broken.")

    with pytest.raises(error, match=told):
        await prepare_turn(world.deps(), ADA, Question("What is it of?", file_ids=["keel"]))


async def test_files_of_others_are_not_there(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.")

    with pytest.raises(NotFound):
        await prepare_turn(world.deps(), EVE, Question("What is it of?", file_ids=[keel]))


async def ask_with_tool(world: ChatFixture, name: str, **arguments: object) -> object:
    """Return what a tool answers its model."""
    with ScriptedModel(script_calls((name, arguments)), script_answer("So.")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("Look at my files.")
    result = next(m for m in reversed(model.calls[-1].messages) if isinstance(m, ToolResult))
    text = result.text
    return json.loads(text[text.index("{") :].split("\n</data")[0])


async def test_a_tool_reads_a_slice_of_a_file_p8(world: ChatFixture) -> None:
    await store_file(world, "log", "One.", "Two. " * 5_000)

    answer = await ask_with_tool(world, "read_file", file_id="log", first_page=2, start=10)

    assert isinstance(answer, dict)
    assert answer["url"] == "keepsake://files/log#page=2"
    assert answer["text"].startswith("Two. Two.")
    assert (len(answer["text"]), answer["continues_at"]) == (20_000, 20_010)


async def test_a_tool_finds_passages_of_files_with_their_page_p8(world: ChatFixture) -> None:
    await store_file(world, "boat", "The mast is of pine.", "The keel is of oak.")
    await store_file(world, "cake", "Two eggs.")

    answer = await ask_with_tool(world, "search_files", query="keel oak")

    assert isinstance(answer, dict)
    assert [row["url"] for row in answer["results"]] == ["keepsake://files/boat#page=2"]
    assert answer["results"][0]["text"] == "The keel is of oak."
    assert "note" not in answer


async def test_a_search_of_files_says_that_other_passages_fit_as_well_e2(
    world: ChatFixture,
) -> None:
    for n in range(MAX_FOUND + 1):
        await store_file(world, f"boat{n}", "The keel is of oak.")

    answer = await ask_with_tool(world, "search_files", query="keel oak")

    assert isinstance(answer, dict)
    assert (len(answer["results"]), answer["note"]) == (MAX_FOUND, MORE_HITS)


async def test_a_file_that_the_model_cannot_read_whole_is_refused_by_name_x25(
    world: ChatFixture,
) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.", tokens=9_000)
    with ScriptedModel(facts=ModelFacts(window_tokens=8_000)) as model:
        async with open_chat(world, model) as chat:
            question = {"text": "What is it of?", "file_ids": [keel]}
            refused = await chat.http.post("/v2/messages", json=question, params=UI)
            shown = await chat.list_shown()

    assert refused.status_code == 413
    assert "“keel.pdf” is too long for the model that answers" in refused.json()["detail"]
    assert [message["sender"] for message in shown] == ["ai"]


async def test_an_answer_cites_files_by_name_and_page_beside_conversations_p17(
    world: ChatFixture,
) -> None:
    lease = await store_file(world, "lease", "It ends in May.")
    await store_file(world, "boat", "The mast is of pine.", "The keel is of oak.")
    await store_conversations(world, ADA, build_conversation(1, "Ann likes oak."))
    search = script_calls(
        ("search_files", {"query": "keel oak", "file_ids": ["boat"]}),
        ("search_conversations", {"query": "oak"}),
    )
    answer = script_answer("Of oak[2], as Ann likes[3]. It ends in May[1].")
    with ScriptedModel(search, answer) as model:
        async with open_chat(world, model) as chat:
            body = {"text": "What is it of?", "file_ids": [lease]}
            streamed = (await chat.http.post("/v2/messages", json=body, params=UI)).text
            old = (await chat.list_shown())[-1]

    assert old["text"] == "Of oak, as Ann likes. It ends in May."
    assert [card["id"] for card in old["memories"]] == ["c001"]
    assert old["metadata"]["marked_text"] == "Of oak[1], as Ann likes[2]. It ends in May[3]."
    assert old["metadata"]["file_citations"] == [
        {"number": 1, "id": "boat", "name": "boat.pdf", "page": 2},
        {"number": 3, "id": "lease", "name": "lease.pdf", "page": None},
    ]
    chunks = [json.loads(line[6:]) for line in streamed.splitlines() if '"source-document"' in line]
    keepsake = [chunk["providerMetadata"]["keepsake"] for chunk in chunks]
    assert [
        (chunk["sourceId"], each["number"]) for chunk, each in zip(chunks, keepsake, strict=True)
    ] == [
        ("boat", 1),
        ("c001", 2),
        ("lease", 3),
    ]
    assert (keepsake[0]["kind"], keepsake[0]["page"]) == ("file", 2)
