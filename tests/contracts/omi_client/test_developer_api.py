"""Calls of scripts to the developer API, each by a key with the scopes it needs (R7)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest

from tests.contracts.omi_client.objects import GOAL
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.program import DEVELOPER_KEYS, create_key, open_program
from tests.contracts.omi_client.readers import (
    double,
    each,
    flag,
    integer,
    number,
    one_of,
    optional,
    shape,
    text,
    time,
)
from tests.e2e.product import wait_for_processing
from tests.e2e.waiting import wait_until

MEMORIES = "/v1/dev/user/memories"
TASKS = "/v1/dev/user/action-items"
CONVERSATIONS = "/v1/dev/user/conversations"
ASK = "/v1/dev/user/ask"
GOALS = "/v1/dev/user/goals"
SUCCESS = shape(success=flag)
MEMORY = shape(
    id=text,
    content=text,
    category=text,
    visibility=one_of("private", "public"),
    tags=each(text),
    created_at=time,
    updated_at=time,
    manually_added=flag,
    reviewed=flag,
    edited=flag,
)
TASK = shape(
    id=text,
    description=text,
    completed=flag,
    created_at=time,
    updated_at=time,
    due_at=optional(time),
    completed_at=optional(time),
    conversation_id=optional(text),
)
SEGMENT = shape(
    id=text,
    text=text,
    speaker=text,
    speaker_id=integer,
    speaker_name=optional(text),
    is_user=flag,
    person_id=optional(text),
    start=double,
    end=double,
)
CONVERSATION = shape(
    id=text,
    created_at=time,
    started_at=time,
    finished_at=time,
    structured=shape(title=text, overview=text, emoji=text, category=text),
    language=text,
    source=text,
    folder_id=optional(text),
    folder_name=optional(text),
)
CREATED = shape(id=text, status=text, discarded=flag)
TALK = "Ann brings the plans for the Lisbon offsite on Friday at ten. " * 5
Opener: TypeAlias = Callable[..., Phone]


@pytest.fixture
def open_script(phone: Phone) -> Iterator[Opener]:
    """Return a function that opens the developer API with a key of these scopes."""
    with ExitStack() as stack:

        def open_script(*scopes: str) -> Phone:
            key = create_key(phone, DEVELOPER_KEYS, scopes=list(scopes))
            return stack.enter_context(open_program(phone, key))

        yield open_script


# --- memories


def test_a_memory_is_written_listed_changed_and_deleted_r7(open_script):
    script = open_script("memories:read", "memories:write")
    body = {"content": "Likes trains.", "category": "interesting", "tags": ["travel"]}

    made = script.send("POST", MEMORIES, MEMORY, json=body)
    path = f"{MEMORIES}/{made['id']}"
    changes = {"content": "Likes night trains.", "visibility": "public", "tags": ["rail"]}
    script.send("PATCH", path, SUCCESS, json=changes)
    (changed,) = script.get(MEMORIES, each(MEMORY))
    script.send("DELETE", path, SUCCESS)

    assert (made["category"], made["visibility"], made["tags"]) == (
        "interesting",
        "private",
        ["travel"],
    )
    assert {**made, **changes, "edited": True, "updated_at": changed["updated_at"]} == changed
    assert script.get(MEMORIES) == []
    assert script.refuse("PATCH", path, json=changes) == (404, "Memory not found")
    assert script.refuse("DELETE", path) == (404, "Memory not found")


def test_memories_are_written_in_batches_and_paged_by_category_r7(open_script):
    script = open_script("memories:read", "memories:write")
    batch = [
        {"content": f"Fact {n}.", "category": ("interesting", "system")[n % 2]} for n in range(5)
    ]
    reader = shape(memories=each(MEMORY), created_count=integer)

    made = script.send("POST", f"{MEMORIES}/batch", reader, json={"memories": batch})

    ids = [memory["id"] for memory in made["memories"]]
    pages = [
        [memory["id"] for memory in script.get(MEMORIES, **query)]
        for query in ({"limit": 3}, {"offset": 3}, {"categories": "system"}, {"offset": 4_999})
    ]
    assert made["created_count"] == 5
    assert pages == [ids[:1:-1], ids[1::-1], [ids[3], ids[1]], []]
    assert script.refuse("GET", MEMORIES, params={"categories": "nonsense"})[0] == 422


# --- action items


def test_a_task_is_written_listed_changed_and_deleted_r7(open_script):
    script = open_script("action_items:read", "action_items:write")
    body = {"description": "Book the train", "due_at": "2030-03-09T09:00:00Z"}

    made = script.send("POST", TASKS, TASK, json=body)
    path = f"{TASKS}/{made['id']}"
    done = script.send("PATCH", path, TASK, json={"completed": True, "due_at": None})
    open_tasks, done_tasks = (script.get(TASKS, each(TASK), completed=c) for c in ("false", "true"))
    script.send("DELETE", path, SUCCESS)

    assert (made["completed"], made["due_at"] is None) == (False, False)
    assert (done["completed"], done["due_at"], done["completed_at"] is None) == (True, None, False)
    assert (open_tasks, done_tasks) == ([], [done])
    assert script.get(TASKS) == []
    assert script.refuse("PATCH", path, json=body) == (404, "Action item not found")
    assert script.refuse("DELETE", path) == (404, "Action item not found")


def test_tasks_are_written_in_batches_and_filtered_by_their_creation_r7(open_script):
    script = open_script("action_items:read", "action_items:write")
    batch = [{"description": f"Task {n}"} for n in range(3)]
    reader = shape(action_items=each(TASK), created_count=integer)

    made = script.send("POST", f"{TASKS}/batch", reader, json={"action_items": batch})

    day = made["action_items"][0]["created_at"].date().isoformat()
    counts = [
        len(script.get(TASKS, each(TASK), **query))
        for query in (
            {"start_date": day, "end_date": day},
            {"start_date": "2090-01-01"},
            {"end_date": "2000-01-01"},
            {"limit": 2},
            {"limit": 2, "offset": 2},
            {"conversation_id": "none"},
        )
    ]
    assert (made["created_count"], counts) == (3, [3, 0, 0, 2, 1, 0])


# --- conversations


def test_a_text_becomes_a_conversation_that_is_processed_r7(open_script, phone):
    script = open_script("conversations:read", "conversations:write")
    body = {
        "text": f"First line.\n\n{TALK}",
        "text_source": "message",
        "text_source_spec": "letters",
        "started_at": "2026-03-02T09:00:00Z",
        "language": "en",
        "geolocation": {"latitude": 38.7, "longitude": -9.1},
    }

    made = script.send("POST", CONVERSATIONS, CREATED, json=body)
    wait_for_processing(phone.http, made["id"])
    whole = script.get(f"{CONVERSATIONS}/{made['id']}", include_transcript="true")

    assert made["discarded"] is False
    assert [segment["text"] for segment in each(SEGMENT)(whole["transcript_segments"])] == [
        "First line.",
        TALK.strip(),
    ]
    assert CONVERSATION(whole)["source"] == "external_integration"
    assert whole["finished_at"] == "2026-03-02T09:05:00Z"
    sources = each(shape(id=text, title=text, created_at=time))
    asked = {"question": "What is the first line?", "limit": 5, "timezone": "UTC"}
    answer = script.send("POST", ASK, shape(answer=text, sources=sources), json=asked)
    assert "First line." in answer["answer"]
    assert [source["id"] for source in answer["sources"]] == [made["id"]]


def test_a_transcript_becomes_a_conversation_that_is_listed_r7(open_script, phone):
    script = open_script("conversations:read", "conversations:write")
    segments = [
        {"text": TALK, "speaker_id": 3, "is_user": True, "start": 0, "end": 12},
        {"text": "I will book the train.", "speaker": "SPEAKER_01", "start": 12, "end": 14.5},
    ]
    body = {
        "transcript_segments": segments,
        "source": "phone",
        "started_at": "2026-03-02T09:00:00Z",
    }

    made = script.send("POST", f"{CONVERSATIONS}/from-segments", CREATED, json=body)
    wait_for_processing(phone.http, made["id"])
    (listed,) = script.get(CONVERSATIONS)
    (transcribed,) = script.get(CONVERSATIONS, include_transcript="true")

    assert "transcript_segments" not in listed
    assert CONVERSATION(listed) == CONVERSATION(transcribed)
    spoken = each(SEGMENT)(transcribed["transcript_segments"])
    assert [(s["speaker"], s["is_user"]) for s in spoken] == [
        ("SPEAKER_03", True),
        ("SPEAKER_01", False),
    ]
    assert listed["finished_at"] == "2026-03-02T09:00:14.500000Z"


def test_conversations_are_filtered_by_day_and_category_r7(open_script, phone):
    script = open_script("conversations:read")
    category = phone.add_conversation()["structured"]["category"]

    counts = [
        len(script.get(CONVERSATIONS, each(CONVERSATION), **query))
        for query in (
            {"start_date": "2026-03-02", "end_date": "2026-03-02"},
            {"start_date": "2026-03-03"},
            {"end_date": "2026-03-01T12:00:00"},
            {"categories": category},
            {"categories": "weather,sports"},
            {"offset": 1},
        )
    ]
    assert counts == [1, 0, 0, 1, 0, 0]
    assert script.refuse("GET", CONVERSATIONS, params={"categories": "nonsense"})[0] == 422
    assert script.refuse("GET", CONVERSATIONS, params={"start_date": "soon"})[0] == 422


def test_a_conversation_names_its_folder_r7(open_script, phone):
    script = open_script("conversations:read")
    conversation_id = phone.add_conversation()["id"]
    folder = phone.send("POST", "/v1/folders", json={"name": "Lisbon"})

    before = script.get(CONVERSATIONS, each(CONVERSATION))
    body = {"folder_id": folder["id"]}
    phone.send("PATCH", f"/v1/conversations/{conversation_id}/folder", json=body)
    listed = script.get(CONVERSATIONS, each(CONVERSATION))
    whole = script.get(f"{CONVERSATIONS}/{conversation_id}", CONVERSATION)

    assert [item["folder_name"] for item in before] == [None]
    assert listed == [whole]
    assert (whole["folder_id"], whole["folder_name"]) == (folder["id"], "Lisbon")


def test_a_conversation_is_renamed_and_deleted_r7(open_script, phone):
    script = open_script("conversations:read", "conversations:write")
    path = f"{CONVERSATIONS}/{phone.add_conversation()['id']}"

    script.send("PATCH", path, SUCCESS, json={"title": "Lisbon"})
    renamed = script.get(path, CONVERSATION)
    script.send("DELETE", path, SUCCESS)

    assert renamed["structured"]["title"] == "Lisbon"
    for method, body in (("GET", None), ("PATCH", {"title": "x"}), ("DELETE", None)):
        assert script.refuse(method, path, json=body) == (404, "Conversation not found")


def test_a_conversation_is_discarded_and_taken_back_r7(open_script, phone):
    script = open_script("conversations:read", "conversations:write")
    segments = [{"text": "I am allergic to peanuts. " + TALK, "is_user": True, "end": 30.0}]
    conversation = phone.add_conversation(transcript_segments=segments)
    path = f"{CONVERSATIONS}/{conversation['id']}"
    memory_count = len(phone.get("/v3/memories"))

    def wait_for_memories(count: int) -> None:
        wait_until(lambda: len(phone.get("/v3/memories")) == count or None)

    script.send("PATCH", path, SUCCESS, json={"discarded": True})
    listed_meanwhile = script.get(CONVERSATIONS)
    wait_for_memories(0)
    script.send("PATCH", path, SUCCESS, json={"discarded": False})

    wait_for_memories(memory_count)
    assert (memory_count > 0, listed_meanwhile) == (True, [])
    assert len(script.get(CONVERSATIONS)) == 1


# --- goals


def test_a_goal_is_set_followed_and_deleted_r7(open_script):
    script = open_script("goals:read", "goals:write")
    body = {"title": "Read books", "goal_type": "numeric", "target_value": 12, "unit": "books"}

    made = script.send("POST", GOALS, GOAL, json=body)
    path = f"{GOALS}/{made['id']}"
    script.send("PATCH", f"{path}/progress?current_value=3.5", GOAL)
    changed = script.send("PATCH", path, GOAL, json={"title": "Read more", "is_active": False})
    history = script.get(f"{path}/history", each(shape(at=time, value=number)), days=30)

    assert (changed["title"], changed["current_value"]) == ("Read more", 3.5)
    assert [point["value"] for point in history][-1] == 3.5
    assert script.get(GOALS) == []
    assert script.get(GOALS, each(GOAL), include_inactive="true", limit=1) == [changed]
    assert script.get(path, GOAL) == changed
    script.send("DELETE", path, SUCCESS)
    for method, at in (("GET", path), ("GET", f"{path}/history"), ("DELETE", path)):
        assert script.refuse(method, at) == (404, "Goal not found")


# --- what is refused


CALLS: list[tuple[str, str, str, Any]] = [
    ("GET", MEMORIES, "memories:read", None),
    ("POST", MEMORIES, "memories:write", {"content": "x"}),
    ("POST", f"{MEMORIES}/batch", "memories:write", {"memories": [{"content": "x"}]}),
    ("PATCH", f"{MEMORIES}/m", "memories:write", {"content": "x"}),
    ("DELETE", f"{MEMORIES}/m", "memories:write", None),
    ("GET", TASKS, "action_items:read", None),
    ("POST", TASKS, "action_items:write", {"description": "x"}),
    ("POST", f"{TASKS}/batch", "action_items:write", {"action_items": [{"description": "x"}]}),
    ("PATCH", f"{TASKS}/t", "action_items:write", {"completed": True}),
    ("DELETE", f"{TASKS}/t", "action_items:write", None),
    ("GET", CONVERSATIONS, "conversations:read", None),
    ("GET", f"{CONVERSATIONS}/c", "conversations:read", None),
    ("POST", ASK, "conversations:read", {"question": "x"}),
    ("POST", CONVERSATIONS, "conversations:write", {"text": "x"}),
    ("POST", f"{CONVERSATIONS}/from-segments", "conversations:write", {}),
    ("PATCH", f"{CONVERSATIONS}/c", "conversations:write", {"title": "x"}),
    ("DELETE", f"{CONVERSATIONS}/c", "conversations:write", None),
    ("GET", "/v1/dev/user/folders", "conversations:read", None),
    ("GET", "/v1/dev/user/daily-summaries", "conversations:read", None),
    ("GET", "/v1/dev/user/daily-summaries/2026-03-02", "conversations:read", None),
    ("GET", GOALS, "goals:read", None),
    ("GET", f"{GOALS}/g", "goals:read", None),
    ("GET", f"{GOALS}/g/history", "goals:read", None),
    ("POST", GOALS, "goals:write", {"title": "x"}),
    ("PATCH", f"{GOALS}/g", "goals:write", {"title": "x"}),
    ("PATCH", f"{GOALS}/g/progress?current_value=1", "goals:write", None),
    ("DELETE", f"{GOALS}/g", "goals:write", None),
]
SCOPES = sorted({scope for _, _, scope, _ in CALLS})


@pytest.mark.parametrize("lacking", SCOPES)
def test_a_key_does_nothing_without_the_scope_for_it_r7(open_script, lacking):
    script = open_script(*(scope for scope in SCOPES if scope != lacking))

    refusals = {
        (method, path): script.refuse(method, path, json=body)
        for method, path, scope, body in CALLS
        if scope == lacking
    }

    assert set(refusals.values()) == {(403, f"This key lacks the scope {lacking}.")}


def test_a_key_opens_its_own_library_alone_r7(sign_up):
    ann, bob = sign_up(), sign_up()
    theirs = {
        f"{CONVERSATIONS}/c": ann.add_conversation()["id"],
        f"{MEMORIES}/m": ann.send("POST", "/v3/memories", json={"content": "Likes it."})["id"],
        f"{TASKS}/t": ann.send("POST", "/v1/action-items", json={"description": "Book"})["id"],
        f"{GOALS}/g": ann.send("POST", "/v1/goals", json={"title": "Read"})["id"],
    }

    with open_program(bob, create_key(bob, DEVELOPER_KEYS, scopes=SCOPES)) as script:
        listings = [script.get(path) for path in (MEMORIES, TASKS, CONVERSATIONS, GOALS)]
        refusals = {
            (method, path): script.refuse(
                method, f"{start[:-1]}{name}{path[len(start) :]}", json=body
            )
            for method, path, _, body in CALLS
            for start, name in theirs.items()
            if path == start or path.startswith(f"{start}/")
        }

    assert listings == [[]] * 4
    assert len(refusals) == 12
    assert {status for status, _ in refusals.values()} == {404}


def test_a_revoked_key_fails_at_once_and_no_other_credential_works_r7(phone):
    made = phone.send("POST", DEVELOPER_KEYS, json={"name": "Script"})
    token = phone.http.headers["authorization"].removeprefix("Bearer ")

    with open_program(phone, made["key"]) as script:
        assert script.get(MEMORIES) == []
        assert script.refuse("GET", "/v3/memories")[0] == 401
        phone.send("DELETE", f"{DEVELOPER_KEYS}/{made['id']}", status=204, json={})
        assert script.refuse("GET", MEMORIES)[0] == 401
    for credential in (token, create_key(phone), "", "ks_dev_x"):
        with open_program(phone, credential or "none") as other:
            assert other.refuse("GET", MEMORIES)[0] == 401


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", MEMORIES, {"content": " "}, 422),
        ("POST", MEMORIES, {"content": "x" * 501}, 422),
        ("POST", MEMORIES, {"content": "x", "category": "nonsense"}, 422),
        ("POST", MEMORIES, {"content": "x", "visibility": "all"}, 422),
        ("POST", MEMORIES, {"content": "x", "tags": ["x" * 65]}, 422),
        ("POST", MEMORIES, {"content": "x", "tags": ["x"] * 21}, 413),
        ("POST", f"{MEMORIES}/batch", {"memories": []}, 422),
        ("POST", f"{MEMORIES}/batch", {"memories": [{"content": "x"}] * 26}, 413),
        ("PATCH", f"{MEMORIES}/m", {}, 422),
        ("PATCH", f"{MEMORIES}/m", {"content": None}, 422),
        ("PATCH", f"{TASKS}/t", {}, 422),
        ("POST", TASKS, {"description": ""}, 422),
        ("POST", TASKS, {"description": "x", "due_at": "soon"}, 422),
        ("POST", f"{TASKS}/batch", {"action_items": [{"description": "x"}] * 51}, 413),
        ("POST", ASK, {"question": " "}, 422),
        ("POST", ASK, {"question": "x", "limit": 0}, 422),
        ("POST", CONVERSATIONS, {"text": " \n "}, 422),
        ("POST", CONVERSATIONS, {"text": "x" * 100_001}, 422),
        ("POST", CONVERSATIONS, {"text": "x", "text_source": "rumour"}, 422),
        ("POST", CONVERSATIONS, {"text": "x", "started_at": "2090-01-01T00:00:00Z"}, 422),
        ("POST", f"{CONVERSATIONS}/from-segments", {"transcript_segments": []}, 422),
        ("POST", f"{CONVERSATIONS}/from-segments", {"transcript_segments": [{"text": " "}]}, 422),
        (
            "POST",
            f"{CONVERSATIONS}/from-segments",
            {"transcript_segments": [{"text": "x"}] * 501},
            413,
        ),
        ("PATCH", f"{CONVERSATIONS}/c", {}, 422),
        ("PATCH", f"{CONVERSATIONS}/c", {"title": ""}, 422),
        ("PATCH", f"{GOALS}/g", {}, 422),
        ("POST", GOALS, {"title": ""}, 422),
        ("GET", f"{MEMORIES}?limit=0", None, 422),
        ("GET", f"{MEMORIES}?offset=-1", None, 422),
        ("GET", f"{MEMORIES}?offset=5001", None, 422),
        ("GET", f"{CONVERSATIONS}?limit=101", None, 422),
    ],
)
def test_bad_input_is_refused_in_words_r7(open_script, method, path, body, status):
    script = open_script(*SCOPES)

    refusal = script.refuse(method, path, json=body)

    assert (refusal[0], bool(refusal[1])) == (status, True)


@pytest.mark.parametrize(
    ("path", "body", "listing"),
    [
        (TASKS, {"description": "Book the train"}, TASKS),
        (f"{TASKS}/batch", {"action_items": [{"description": "Book the train"}]}, TASKS),
        (MEMORIES, {"content": "Likes trains."}, MEMORIES),
    ],
)
def test_a_creation_that_is_repeated_under_its_key_is_done_once_r7(
    open_script, path, body, listing
):
    script = open_script(*SCOPES)

    answers = [
        script.send("POST", path, json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2)
    ]

    assert answers[0] == answers[1]
    assert len(script.get(listing)) == 1


def test_a_key_is_limited_by_itself_r7(open_script):
    script, other = open_script("memories:read"), open_script("memories:read")

    statuses = [script.http.get(MEMORIES).status_code for _ in range(130)]

    assert statuses[0] == 200
    assert 429 in statuses
    assert other.http.get(MEMORIES).status_code == 200
