"""Tasks of the offline model: whose they are, by who speaks to whom."""

from typing import Any

import pytest

from shared.adapters.embedded.offline.conversation_extractors import EXTRACTORS

Line = tuple[str, str]
OWNER = "Tom"


def list_tasks(lines: list[Line], *, owner: str | None = OWNER) -> list[tuple[str, str]]:
    items = extract_items(lines, owner=owner)
    return [(item["owner"], item["description"]) for item in items]


def extract_items(lines: list[Line], *, owner: str | None = OWNER) -> list[dict[str, Any]]:
    data: dict[str, Any] = {
        "transcript": [
            {"segment": n, "speaker": speaker, "is_user": speaker == owner, "text": text}
            for n, (speaker, text) in enumerate(lines)
        ],
        "started_at": "Monday 2026-03-02 10:00",
        "time_zone": "Europe/Berlin",
        "language": "en",
    }
    items: list[dict[str, Any]] = EXTRACTORS["process_conversation/extraction"](data)["structure"][
        "action_items"
    ]
    return items


@pytest.mark.parametrize(
    ("lines", "tasks"),
    [
        ([("Ann", "I will bring the ladder."), (OWNER, "Great.")], [("Ann", "Bring the ladder")]),
        ([("Ann", "Mara, can you send the contract?"), ("Mara Vogt", "Sure."), (OWNER, "Fine.")], [("Mara Vogt", "Send the contract")]),
        ([("Ann", "Could you send the contract, Mara?"), (OWNER, "Fine.")], [("Mara", "Send the contract")]),
        ([(OWNER, "Hey Ann can you book the room?"), ("Ann", "Yes.")], [("Ann", "Book the room")]),
        ([("Ann", "Tom, can you book the room?"), ("Mara", "Good.")], [("Tom", "Book the room")]),
        ([("Ann", "Can you book the room?"), (OWNER, "Yes."), ("Mara", "Good.")], [("me", "Book the room")]),
        ([("Ann", "Can you book the room?"), ("Mara", "Yes."), (OWNER, "Good.")], [("Mara", "Book the room")]),
        ([("Ann", "Can you book the room?"), (OWNER, "No, sorry.")], []),
        ([("Ann", "Mara will send the invoice."), ("Mara", "Right."), (OWNER, "Good.")], [("Mara", "Send the invoice")]),
        ([("Ann", "Dinner will start at eight."), (OWNER, "Good.")], []),
        ([("SPEAKER_01", "I'll bring bread."), (OWNER, "Good.")], [("SPEAKER_01", "Bring bread")]),
        ([("Ann", "Fine."), (OWNER, "I also need to call the dentist.")], [("me", "Call the dentist")]),
    ],
)  # fmt: skip
def test_a_task_belongs_to_who_promised_it_or_was_asked(lines, tasks) -> None:
    assert list_tasks(lines) == tasks


@pytest.mark.parametrize(
    ("lines", "tasks"),
    [
        ([("Ann", "I will bring the ladder.")], [("Ann", "Bring the ladder")]),
        ([("SPEAKER_00", "I'll bring wine."), ("SPEAKER_01", "I'll bring bread.")], [("unknown", "Bring wine"), ("unknown", "Bring bread")]),
        ([("SPEAKER_00", "I need to renew the passport.")], [("me", "Renew the passport")]),
        ([("SPEAKER_00", "- [ ] Call the plumber\n- [x] I'll pay the rent\n2. [ ] ask Dr. No about it.")], [("me", "Call the plumber"), ("me", "Ask Dr. No about it")]),
        ([("Ann", "- [ ] Call the plumber"), ("Tom", "Fine.")], [("Ann", "Call the plumber")]),
    ],
)  # fmt: skip
def test_where_nobody_is_the_owner_only_a_note_has_tasks_of_theirs(lines, tasks) -> None:
    assert list_tasks(lines, owner=None) == tasks


@pytest.mark.parametrize(
    ("lines", "description"),
    [
        ([("Ann", "I'm late."), (OWNER, "I'll pick you up at six.")], "Pick Ann up at six"),
        ([("SPEAKER_01", "I'm late."), (OWNER, "I'll pick you up at six.")], "Pick them up at six"),
        ([("Ann", "Can you send me your notes and call my mother?")], "Send Ann my notes and call Ann's mother"),
        ([("Ann", "I'll send you my notes."), (OWNER, "Thanks.")], "Send me their notes"),
        ([(OWNER, "Ann, I'll send you the plan."), ("Mara", "Me too?"), ("Ann", "Yes.")], "Send Ann the plan"),
        ([(OWNER, "I'll call Mr. Popescu, the landlord, about 3.5 rooms.")], "Call Mr. Popescu, the landlord, about 3.5 rooms"),
        ([("Ann", "Could you also write the report?")], "Write the report"),
        ([(OWNER, "I'll then also call Ben.")], "Call Ben"),
        ([(OWNER, "I promise you the draft by Friday."), ("Ann", "Good.")], "Give Ann the draft"),
        ([("Ann", "Tom, I promise you my notes."), (OWNER, "Good.")], "Give me their notes"),
        ([(OWNER, "I'll ask Dr. J. Klein to sign it, okay?")], "Ask Dr. J. Klein to sign it"),
    ],
)  # fmt: skip
def test_a_task_says_who_is_meant_and_keeps_names_whole(lines, description) -> None:
    everybody = [*lines, (OWNER, "Hm.")]

    assert [task for _, task in list_tasks(everybody)] == [description]


@pytest.mark.parametrize(
    "spoken",
    [
        "Can you hear me?",
        "Can you hear me okay now?",
        "Would you believe it?",
        "Could you do that?",
        "Will you ever move back?",
        "Do you think I should call him?",
        "Please don't wait for me.",
    ],
)
@pytest.mark.parametrize("speaker", ["Ann", OWNER])
def test_a_question_about_how_things_are_is_no_task(speaker, spoken) -> None:
    assert list_tasks([(speaker, spoken), ("Ann", "Well."), (OWNER, "Well.")]) == []


@pytest.mark.parametrize(
    ("lines", "descriptions"),
    [
        ([("Ann", "Could you bring your drill?"), (OWNER, "I'll bring the drill and a box of screws.")], ["Bring the drill and a box of screws"]),
        ([("Ann", "Please call Aunt Gerda, she feels left out."), (OWNER, "I'll call Aunt Gerda on Sunday.")], ["Call Aunt Gerda"]),
        ([(OWNER, "I'll call Aunt Gerda."), ("Ann", "Good."), (OWNER, "I'll call Aunt Gerda.")], ["Call Aunt Gerda"]),
        ([(OWNER, "I'll call Gerda on Monday."), ("Ann", "Good."), (OWNER, "I'll call Gerda on Tuesday.")], ["Call Gerda on Monday", "Call Gerda on Tuesday"]),
        ([(OWNER, "I'll call Gerda tomorrow."), ("Ann", "Good."), (OWNER, "I'll call Gerda on Friday.")], ["Call Gerda tomorrow", "Call Gerda on Friday"]),
        ([(OWNER, "- [ ] Call Ann\n- [ ] Call Ann about the party\n- [ ] Air room 1\n- [ ] Air room 2")], ["Call Ann", "Call Ann about the party", "Air room 1", "Air room 2"]),
        ([("Ann", "Please bring the payslips by Friday."), (OWNER, "I'll bring them.")], ["Bring the payslips"]),
        ([(OWNER, "I'll read chapter one."), ("Ann", "Good."), (OWNER, "I'll read chapter two.")], ["Read chapter one", "Read chapter two"]),
        ([("Ann", "I'll call Gerda."), (OWNER, "I'll call Gerda on Sunday.")], ["Call Gerda", "Call Gerda on Sunday"]),
    ],
)  # fmt: skip
def test_what_is_asked_and_then_promised_is_one_task(lines, descriptions) -> None:
    assert [task for _, task in list_tasks([*lines, (OWNER, "Hm.")])] == descriptions


def test_a_task_ends_where_another_subject_begins() -> None:
    lines = [("Ann", "I'll bake the walnut cake and you cook."), (OWNER, "Fine.")]

    assert list_tasks(lines) == [("Ann", "Bake the walnut cake")]


@pytest.mark.parametrize(
    ("lines", "task"),
    [
        ([(OWNER, "I'll send the draft on Thursday."), ("Ann", "No, make it Friday.")], ("Send the draft", "2026-03-06 18")),
        ([(OWNER, "I will sign the form on Monday."), ("Ann", "No, please make it Friday, the list closes then.")], ("Sign the form", "2026-03-06 18")),
        ([(OWNER, "I'll send it by Thursday."), ("Ann", "No, on Friday.")], ("Send it", "2026-03-06 18")),
        ([("Ann", "Can you please do it Thursday?"), (OWNER, "I'm away then."), ("Ann", "No, please make it Friday.")], ("Do it", "2026-03-06 18")),
        ([(OWNER, "I'll send the draft on Thursday at 3. No wait, on Friday.")], ("Send the draft at 3", "2026-03-06 15")),
        ([(OWNER, "I'll call Gerda tomorrow."), (OWNER, "Actually, I'll call Gerda in three days.")], ("Call Gerda", "2026-03-05 18")),
        ([(OWNER, "I'll call Gerda tomorrow."), ("Ann", "Could you make it Friday?"), (OWNER, "Okay, I'll make it Friday.")], ("Call Gerda", "2026-03-06 18")),
        ([(OWNER, "I'll call Gerda on Monday."), ("Ann", "Can you make it Tuesday?"), (OWNER, "No, sorry."), ("Ann", "No, not on Tuesday.")], ("Call Gerda", "2026-03-09 18")),
        ([(OWNER, "I'll call Gerda on Monday."), ("Ann", "No, the concert is on Tuesday.")], ("Call Gerda", "2026-03-09 18")),
        ([(OWNER, "I'll call Gerda on Monday."), ("Ann", "See you on Tuesday.")], ("Call Gerda", "2026-03-09 18")),
    ],
)  # fmt: skip
def test_a_task_is_due_on_the_day_to_which_it_was_moved(lines, task) -> None:
    [item] = extract_items([*lines, ("Ann", "Hm.")])

    assert (item["description"], item["due_at"][:13]) == task
