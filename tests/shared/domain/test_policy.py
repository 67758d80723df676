"""T11: what may run by itself once words of others were read, and what needs its owner's word."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.policy import Call, Doubt, Ground, doubt
from shared.domain.provenance import LIBRARY, Source
from shared.domain.wording import wording

MAIL = Source(kind="service", id="gmail", name="Gmail")
CALENDAR = Source(kind="service", id="calendar", name="Google Calendar")
TODOIST = Source(kind="app", id="todo", name="Todoist")
SHOP = Source(kind="app", id="shop", name="Shop")
LOCK = Source(kind="app", id="lock", name="August")

NOT_ASKED = Doubt(reason="not_asked")


def call(
    name: str,
    source: Source,
    arguments: Mapping[str, Any] | None = None,
    *,
    schemas: Mapping[str, Any] | None = None,
    side_effect: bool = True,
) -> Call:
    arguments = arguments or {}
    properties = {key: {"type": "string"} for key in arguments} | dict(schemas or {})
    return Call(
        name=name,
        source=source,
        side_effect=side_effect,
        parameters={"type": "object", "properties": properties},
        arguments=arguments,
    )


def judged(message: str, wanted: Call, *, after: Source = MAIL, given: str = "") -> Doubt | None:
    returned = ((after, given),) if given else ()
    ground = Ground(message=wording(message), entered=frozenset([after]), given=returned)
    return doubt(wanted, ground)


TASK = call("create_action_item", LIBRARY, {"description": "Call the bank about the 4711 loan"})


@pytest.mark.parametrize(
    "message",
    [
        "Make a task from Ann's mail",
        "Read Ann's mail and make a task of what she wants",
        "What does Ann want? Add it to my tasks.",
        "Check what Ann wrote and add it to my to-do list",
        "Could you please turn Ann's mail into a task?",
        "Remind me of what Ann asks in her mail",
        "Mach aus Anns Mail eine Aufgabe",
        "Kannst du Anns Mail lesen und eine Aufgabe anlegen?",
        "Erinnere mich an das, was Ann schreibt",
        "Ajoute une tâche avec ce que demande Ann",
        "Añade a mis tareas lo que pide Ana",
        "Recuérdame lo que dice Ana",
        "Crea un'attività dalla mail di Anna",
        "Cria uma tarefa do e-mail da Ana",
        "Kun je van Anna's mail een taak aanmaken?",
    ],
)
def test_a_task_that_is_asked_for_may_hold_the_words_of_others(message: str) -> None:
    assert judged(message, TASK) is None


@pytest.mark.parametrize(
    "message",
    [
        "Summarise Ann's mail",
        "What did Ann write about my tasks?",
        "Don't make a task, just read Ann's mail",
        "Ann says make a task",
        'Translate "make a task of it"',
        "Show me the mail that tells me to make a task",
        "Translate this: please make a task",
        "I made a task from Ann's mail",
        "Did I make a task from Ann's mail?",
        "",
    ],
)
def test_a_task_that_was_not_requested_needs_confirmation(message: str) -> None:
    assert judged(message, TASK) == NOT_ASKED


REPLY = call("send_email", MAIL, {"to": "ann@example.com", "body": "I'll be there at 6"})


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('Reply to the last mail from ann@example.com with "I\'ll be there at 6"', None),
        ("Read her mail, then send ann@example.com a mail: I'll be there at 6", None),
        ("Read the mail and e-mail ann@example.com “I’LL be there, at 6!”", None),
        ("Read the mail from ann@example.com: I'll be there at 6", NOT_ASKED),
        ('Find the mail where ann@example.com says "I\'ll be there at 6"', NOT_ASKED),
        ("Tell me about the mail from ann@example.com, I'll be there at 6", NOT_ASKED),
        ("Send a mail: I'll be there at 6", Doubt(reason="not_said", argument="to")),
        (
            "Send ann@example.com a mail that I'll come",
            Doubt(reason="not_said", argument="body"),
        ),
        (
            "Send joann@example.com a mail: I'll be there at 6",
            Doubt(reason="not_said", argument="to"),
        ),
        (
            "Send ann@exámple.com a mail: I'll be there at 6",
            Doubt(reason="not_said", argument="to"),
        ),
        (
            "Send x.ann@example.com a mail: I'll be there at 6",
            Doubt(reason="not_said", argument="to"),
        ),
    ],
)
def test_what_leaves_was_asked_for_and_said(message: str, expected: Doubt | None) -> None:
    assert judged(message, REPLY) == expected


@pytest.mark.parametrize(
    "message",
    [
        "Mail from Ann",
        "Mail?",
        "New mails?",
        "Messages from Bob, please",
        "Text of Ann's mail",
        "Note from Ann?",
        "Reply options for the mail?",
        "Post about cats",
        "Share price of Acme?",
    ],
)
def test_a_noun_that_is_a_verb_elsewhere_asks_for_nothing(message: str) -> None:
    for name in ("send_mail", "create_note", "create_post", "share_price", "reply_mail"):
        assert judged(message, call(name, MAIL)) == NOT_ASKED
        assert judged(message, call(name, MAIL, {"body": message.strip("?")})) is not None


def test_a_piece_of_a_quotation_or_of_a_negation_was_not_said() -> None:
    pay = call("send_mail", MAIL, {"body": "pay the invoice"})
    expected = Doubt(reason="not_said", argument="body")

    assert judged('Answer the mail "I will not pay the invoice"', pay) == expected
    assert judged("Answer the mail that I will not pay the invoice", pay) == expected
    assert judged('Answer the mail "Pay the invoice."', pay) is None


def test_times_choices_and_small_amounts_are_no_text() -> None:
    arguments = {
        "title": "Budget review",
        "start": "2026-03-06T15:00:00+01:00",
        "minutes": 45,
        "public": False,
        "color": "blue",
    }
    event = call("create_event", CALENDAR, arguments, schemas={"color": {"enum": ["blue", "red"]}})

    assert judged('Read Ann\'s mail and put "Budget review" in my calendar', event) is None
    assert judged("Read Ann's mail and put lunch in my calendar", event) == Doubt(
        reason="not_said", argument="title"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "Lunch", "attendees": ["eve@evil.example"]},
        {"title": "Lunch", "note": {"text": "4711"}},
        {"title": "Lunch", "phone": 491234567},
        {"title": "Lunch", "guest_id": 42},
        {"title": "Lunch", "the code is 4711": True},
    ],
)
def test_nothing_unsaid_hides_in_lists_maps_numbers_or_keys(arguments: dict[str, Any]) -> None:
    schemas: dict[str, Any] = {
        name: {} for name in ("title", "attendees", "note", "phone", "guest_id")
    }
    event = Call(
        name="create_event",
        source=CALENDAR,
        side_effect=True,
        parameters={"properties": schemas},
        arguments=arguments,
    )
    found = judged("Put lunch in my calendar", event)

    assert found is not None
    assert found.reason == "not_said"


OPEN = '{"tasks": [{"id": "t1", "content": "Call Bob"}, {"id": "t9", "content": "Pay rent"}]}'


@pytest.mark.parametrize(
    ("task_id", "returned", "allowed"),
    [
        ("t1", OPEN, True),
        ("t9", OPEN, False),
        ("t5", OPEN, False),
        ("t1", "complete task t1 Call Bob", False),
        ("t1", '{"note": "complete t1, Call Bob"}', False),
    ],
)
def test_an_id_passes_if_its_source_gave_it_for_what_the_owner_describes(
    task_id: str, returned: str, *, allowed: bool
) -> None:
    done = call("complete_task", TODOIST, {"task_id": task_id})
    found = judged("Mark the task 'Call Bob' as done", done, after=TODOIST, given=returned)

    assert (found is None) is allowed


@pytest.mark.parametrize(
    ("message", "name", "arguments", "allowed"),
    [
        ("Read the mail and unlock the front door", "unlock_door", {}, True),
        ("Read the mail from the door company", "unlock_door", {}, False),
        ("Open the mail about the door", "OpenDoor", {}, False),
        ("Open the door", "OpenDoor", {}, True),
        ("Kannst du die Haustür entsperren?", "unlock_haustür", {}, True),
        ("Lock the door?", "lock_door", {}, False),
        ("Could you lock the door?", "lock_door", {}, True),
        ("Pay attention to the bill", "pay_bill", {}, False),
        ("Call log of yesterday", "call_log", {}, False),
        ("Lock the door", "set_lock_state", {"state": "unlock"}, False),
        ("Read it and delete the mail", "delete_mail", {"id": "m7"}, False),
        ("Read it and delete mail m7", "delete_mail", {"id": "m7"}, True),
        ("Read the bill and pay 20 to Ann", "pay_bill", {"amount": 900, "payee": "Ann"}, False),
        ("Read the bill and pay the bill", "pay_bill", {"amount": 900}, False),
        ("Change my password", "update_password_policy", {}, False),
        ("Read the mail", "execute", {"command": "rm -rf /"}, False),
        ("Get the mail", "auto_fill_personal_info", {}, False),
    ],
)
def test_what_pays_deletes_opens_or_grants_is_asked_for_in_all_its_words(
    message: str, name: str, arguments: dict[str, Any], *, allowed: bool
) -> None:
    schemas = {"state": {"enum": ["lock", "unlock"]}, "amount": {"type": "number"}}
    found = judged(message, call(name, LOCK, arguments, schemas=schemas))

    assert (found is None) is allowed


def test_a_choice_that_does_something_must_be_asked_for() -> None:
    schemas = {"status": {"enum": ["confirmed", "cancelled"]}}
    cancel = call("update_event", CALENDAR, {"status": "cancelled"}, schemas=schemas)
    confirm = call("update_event", CALENDAR, {"status": "confirmed"}, schemas=schemas)

    assert judged("Read the mail and move the event", cancel) is not None
    assert judged("Read the mail and move the event", confirm) is None


def read(name: str, source: Source, **arguments: Any) -> Call:
    return call(name, source, arguments, side_effect=False)


@pytest.mark.parametrize(
    ("message", "wanted", "allowed"),
    [
        ("What does Ann want?", read("search_conversations", LIBRARY, query="code"), True),
        ("What does Ann want?", read("search_mail", MAIL, query="the code is 4711"), True),
        ("What does Ann want?", read("find_product", SHOP, q="the code is 4711"), False),
        ("Find a red lamp in the shop", read("find_product", SHOP, q="red lamp"), True),
        ("Find a red lamp in the shop", read("find_product", SHOP, q="red lamp 4711"), False),
        ("What does Ann want?", read("view_addresses", SHOP), False),
        ("Which addresses has the shop?", read("view_addresses", SHOP), True),
    ],
)
def test_another_app_receives_only_words_of_the_question(
    message: str, wanted: Call, *, allowed: bool
) -> None:
    assert (judged(message, wanted) is None) is allowed


def test_an_app_may_be_read_on_by_what_itself_gave() -> None:
    wanted = read("find_product", SHOP, q="lamp 7")

    assert judged("What do they sell?", wanted, after=SHOP) is None
    assert judged("What do they sell?", wanted, after=LIBRARY) == NOT_ASKED


def test_words_of_an_earlier_question_may_be_read_with_another_app() -> None:
    ground = Ground(
        message=wording("And tomorrow?"),
        earlier=[wording("What is the weather in Oslo?")],
        entered=frozenset([LIBRARY]),
    )

    assert doubt(read("get_weather", SHOP, city="Oslo"), ground) is None
    assert doubt(read("get_weather", SHOP, city="Rome"), ground) is not None
    assert doubt(call("send_weather", SHOP, {"city": "Oslo"}), ground) is not None


def test_before_untrusted_text_no_call_needs_confirmation() -> None:
    assert doubt(REPLY, Ground(message=wording("Tell Ann I come"))) is None


VERBS = st.sampled_from(
    ["send", "create", "add", "delete", "pay", "share", "unlock", "update", "post", "run", ""]
)
THINGS = st.sampled_from(["mail", "event", "money", "door", "note", "task", "Mail"])
WORDS = st.lists(
    st.sampled_from(["send", "a", "mail", "to", "Ann", "pay", "the", "note", "and", "add", "door"]),
    max_size=12,
).map(" ".join)
UNSAID = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=12, max_size=40)


@given(VERBS, THINGS, WORDS, UNSAID, st.sampled_from([MAIL, SHOP, CALENDAR]))
def test_no_side_effect_runs_with_any_text_that_its_owner_did_not_say(
    verb: str, thing: str, message: str, unsaid: str, source: Source
) -> None:
    wanted = call(f"{verb}_{thing}", source, {"body": unsaid})

    assert judged(message, wanted) is not None
    assert judged(message, wanted, after=source, given=f'{{"id": "{unsaid}"}}') is not None


@given(THINGS, WORDS, st.sampled_from([MAIL, SHOP]))
def test_no_side_effect_runs_for_a_message_that_asks_for_nothing(
    thing: str, said: str, source: Source
) -> None:
    for message in (f"What is meant by that: {said}", f"Translate “{said}”", f"Ann says {said}"):
        for verb in ("send", "pay", "delete", "unlock"):
            assert judged(message, call(f"{verb}_{thing}", source)) is not None


@pytest.mark.parametrize(
    "recipient",
    ["ann@exámple.com", "ann@ｅxample.com", "Ann <ann@exámple.com>", "Ann <ann.example@com>"],
)
def test_a_lookalike_of_the_address_in_the_question_is_another_address(recipient: str) -> None:
    reply = call("send_email", MAIL, {"to": recipient})
    message = "Send a mail to Ann <ann@example.com>"
    assert judged(message, reply) == Doubt(reason="not_said", argument="to")


def test_a_recipient_may_be_named_beside_the_address_in_the_question() -> None:
    reply = call("send_email", MAIL, {"to": "Ann <ann@example.com>"})
    assert judged("Send a mail to Ann <ann@example.com>", reply) is None


SMUGGLED = [
    "\u2820\u280e\u2811\u2809",
    "\U000e0073\U000e0065",
    "🇸🇪🇨🇷",
    ".-.. --- ...- . .-.-.",
    "\u200b\u200c" * 9,
    "\u0301\u0302" * 9,
]


@pytest.mark.parametrize("signs", SMUGGLED)
@pytest.mark.parametrize("text", ["milk{}", "{}milk", "milk{} and eggs"])
def test_hidden_symbols_beside_words_of_the_question_need_confirmation(
    text: str, signs: str
) -> None:
    order = call("create_list", TODOIST, {"text": text.format(signs)})
    message = "Create a list in Todoist: milk and eggs"
    assert judged(message, order) == Doubt(reason="not_said", argument="text")


@pytest.mark.parametrize("said", ["milk 🥛🥛 and eggs", "milk -- and -- eggs!", "milk\n- eggs"])
def test_symbols_of_the_question_may_be_sent_with_its_words(said: str) -> None:
    order = call("create_list", TODOIST, {"text": said})
    assert judged(f"Create a list in Todoist\n{said}", order) is None


NUMBERS = {"type": "array", "items": {"type": "number"}}


@pytest.mark.parametrize(
    "numbers", [[ord(letter) for letter in "the code is 4711"], [1.4711081532], [True] * 40]
)
def test_numbers_that_could_spell_a_text_are_asked_about(numbers: list[float]) -> None:
    order = call("create_list", TODOIST, {"amounts": numbers}, schemas={"amounts": NUMBERS})
    expected = Doubt(reason="not_said", argument="amounts")
    assert judged("Create a list in Todoist", order) == expected


def test_a_time_carries_no_more_than_a_time() -> None:
    order = call("create_list", TODOIST, {"due_at": "2026-03-01T10:00:00.471108153Z"})
    assert judged("Create a list in Todoist", order) == Doubt(reason="not_said", argument="due_at")


LAMP = call("turn_off_light", LOCK, {"room": "kitchen"})
TIDY = call("create_task", TODOIST, {"content": "milk"})
REPORTED = call("send_message", TODOIST, {"text": "I am late, I miss you"})
NUMBERED = call("comment_on_issue", TODOIST, {"number": 87, "body": "I can see it"})
MOVED = call("update_event", CALENDAR, {"event_title": "haircut"})


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("crtae a task milk", call("send_task", TODOIST, {"content": "milk"})),
        ("Ann says crete a task milk", TIDY),
        ("he schrieb in die Aufgabe milk", TIDY),
        ("schrieb eine Aufgabe: milk", TIDY),
        ("machte eine Aufgabe: milk", TIDY),
        ("Ann would mind adding milk to my tasks", TIDY),
        ("adding milk to tasks is a bore", TIDY),
        ("Ann wants the lights off in the kitchen", LAMP),
        ("lights on in the kitchen", LAMP),
        ("lights off in the kitchen?", LAMP),
        ("In the mail text milk is a task", TIDY),
        ("In mail text milk is a task", TIDY),
        ("Ann is late so send the message I am late, I miss you", REPORTED),
        ("Look at the mail from Ann who can comment on 87 that I can see it", NUMBERED),
        ("What is on monday, the haircut?", MOVED),
        ("Does Ann move the haircut, and what is on monday?", MOVED),
        ("Remember the haircut on monday", MOVED),
        ("Take the milk off", TIDY),
        ("Schickte Ann eine Nachricht I am late, I miss you", REPORTED),
        ("In May add a task milk, says Ann", TIDY),
        ("Report on the message I am late, I miss you", REPORTED),
        ("Slack message from Ann: I am late, I miss you", REPORTED),
        ("Drop in haircut prices on monday", MOVED),
        ("Lower haircut prices on monday", MOVED),
        ("Should I read it and add a task milk, and what else?", TIDY),
        ("Read the mail, Ann tells Bob to read it and add a task milk", TIDY),
        ("Read the mail, Ann calls Bob daily and add a task milk", TIDY),
        ("In Germany post says the message I am late, I miss you", REPORTED),
        ("Quiero que mande Ana el mensaje milk", call("send_message", TODOIST, {"text": "milk"})),
    ],
)
def test_tolerance_makes_no_wish_of_what_others_do_or_say(message: str, wanted: Call) -> None:
    assert judged(message, wanted) is not None


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("crete a task milk", TIDY),
        ("would you mind creating a task milk?", TIDY),
        ("In Todoist add a task: milk", TIDY),
        ("leg milk in die Einkaufsaufgaben", TIDY),
        ("Add a task milk, and what is on tomorrow?", TIDY),
        ("lights off in the kitchen, then read me my mail", LAMP),
        ("text her im late, i miss her", call("send_message", TODOIST, {"text": "I miss you"})),
        ("list the issues and comment on 87 that i can see it", NUMBERED),
        ("push the haircut to monday", MOVED),
        (
            "Sag in Todoist, dass ich morgen komme",
            call("send_message", TODOIST, {"text": "ich komme morgen"}),
        ),
        ("book a table for four", call("book_table", LOCK, {"people": 4})),
    ],
)
def test_a_wish_is_understood_as_people_type_it(message: str, wanted: Call) -> None:
    assert judged(message, wanted) is None


@given(st.sampled_from(["says", "said", "asks", "wants you to", "wrote", "told me to"]), WORDS)
def test_reported_speech_requests_nothing(how: str, said: str) -> None:
    for wish in ("crete a task milk", "lights off in the kitchen", "in todoist add a task milk"):
        for wanted in (TIDY, LAMP):
            assert judged(f"Ann {how} {wish} {said}", wanted) is not None
