"""Action items of a conversation: changed there or on the page of tasks, the other follows."""

import pytest

from tests.fixtures.library import BODY, CONVERSATIONS, build_client
from tests.fixtures.processing import EXTRACTION, build_outputs

TALK = f"{CONVERSATIONS}/talk"
ITEMS = f"{TALK}/action-items"
TASKS = "/v1/action-items"
PRINTER, TRAIN, HOTEL = "Call the printer", "Book the train", "Pay the hotel"
OUTPUTS = build_outputs(items=[PRINTER, TRAIN, HOTEL])


@pytest.fixture
async def processed_world(world, alice):
    world.model._answers[EXTRACTION] = [OUTPUTS]
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    return world


async def list_items(alice):
    structured = (await alice.get(TALK)).json()["structured"]
    return [(item["description"], item["completed"]) for item in structured["action_items"]]


async def list_tasks(alice):
    tasks = (await alice.get(TASKS)).json()["action_items"]
    return {task["description"]: task["completed"] for task in tasks}


async def find_task(alice, description):
    tasks = (await alice.get(TASKS)).json()["action_items"]
    return next(task for task in tasks if task["description"] == description)


async def reprocess(world, alice, outputs=OUTPUTS):
    """Process the conversation again; by default the model answers as before."""
    world.model._answers[EXTRACTION].append(outputs)
    world.events.published.clear()
    await alice.patch(TALK, json={"title": "Other words"})
    await world.documents.delete_tree("users/alice/conversations/talk/answers/extraction")
    await world.deliver_all()


@pytest.mark.usefixtures("processed_world")
async def test_completed_items_are_completed_tasks_too_r5(alice):
    body = {"items_idx": [0, 2], "values": [True, True]}

    assert (await alice.patch(ITEMS, json=body)).status_code == 200

    assert await list_items(alice) == [(PRINTER, True), (TRAIN, False), (HOTEL, True)]
    assert await list_tasks(alice) == {PRINTER: True, TRAIN: False, HOTEL: True}
    assert (await find_task(alice, PRINTER))["completed_at"] is not None
    await alice.patch(ITEMS, json={"items_idx": [0], "values": [False]})
    assert (await find_task(alice, PRINTER))["completed_at"] is None


@pytest.mark.usefixtures("processed_world")
async def test_a_renamed_item_is_the_same_task_with_other_words(alice):
    before = await find_task(alice, TRAIN)
    body = {"old_description": TRAIN, "description": "Book the night train"}

    for _ in range(2):  # the client repeats a request whose answer was lost
        assert (await alice.patch(f"{ITEMS}/1", json=body)).status_code == 200

    assert await list_items(alice) == [
        (PRINTER, False),
        ("Book the night train", False),
        (HOTEL, False),
    ]
    assert (await find_task(alice, "Book the night train"))["id"] == before["id"]


@pytest.mark.usefixtures("processed_world")
async def test_an_item_is_found_by_its_old_words_where_its_place_is_another(alice):
    body = {"old_description": HOTEL, "description": "Pay the inn"}

    assert (await alice.patch(f"{ITEMS}/0", json=body)).status_code == 200

    assert [text for text, _ in await list_items(alice)] == [PRINTER, TRAIN, "Pay the inn"]


async def test_a_deleted_item_stays_deleted_when_the_conversation_is_processed_again(
    processed_world, alice
):
    body = {"completed": False, "description": TRAIN}

    assert (await alice.request("DELETE", ITEMS, json=body)).status_code == 204
    await reprocess(processed_world, alice)

    assert [text for text, _ in await list_items(alice)] == [PRINTER, HOTEL]
    assert sorted(await list_tasks(alice)) == sorted([PRINTER, HOTEL])


async def test_what_the_owner_changed_survives_processing(processed_world, alice):
    body = {"old_description": TRAIN, "description": "Book the night train"}
    await alice.patch(f"{ITEMS}/1", json=body)
    await alice.patch(ITEMS, json={"items_idx": [2], "values": [True]})

    await reprocess(processed_world, alice)

    assert await list_items(alice) == [
        (PRINTER, False),
        ("Book the night train", False),
        (HOTEL, True),
    ]
    assert sorted(await list_tasks(alice)) == sorted([PRINTER, "Book the night train", HOTEL])


@pytest.mark.usefixtures("processed_world")
async def test_a_change_on_the_page_of_tasks_shows_in_the_conversation(alice):
    printer, train, hotel = [await find_task(alice, text) for text in (PRINTER, TRAIN, HOTEL)]

    await alice.patch(f"{TASKS}/{printer['id']}/completed", params={"completed": True})
    await alice.patch(f"{TASKS}/{train['id']}", json={"description": "Book the night train"})
    await alice.delete(f"{TASKS}/{hotel['id']}")

    assert await list_items(alice) == [(PRINTER, True), ("Book the night train", False)]


async def test_an_item_whose_task_stands_elsewhere_gets_a_task_when_it_is_completed(world, alice):
    await alice.post(TASKS, json={"id": "mine", "description": PRINTER})
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    await alice.patch(ITEMS, json={"items_idx": [0], "values": [True]})

    assert await list_items(alice) == [(PRINTER, True)]
    tasks = (await alice.get(TASKS)).json()["action_items"]
    assert {task["id"] == "mine": task["completed"] for task in tasks} == {True: False, False: True}


@pytest.mark.parametrize(
    ("request_line", "body", "status", "detail"),
    [
        ("PATCH", {"items_idx": [3], "values": [True]}, 404, "Action item not found"),
        ("PATCH", {"items_idx": [-1], "values": [True]}, 422, "at least 0"),
        ("PATCH", {"items_idx": [0, 1], "values": [True]}, 422, "one value for each"),
        ("PATCH", {"items_idx": [], "values": []}, 422, "The items idx must not be empty."),
        ("PATCH", {"items_idx": [0] * 101, "values": [True] * 101}, 413, "at most 100"),
        ("PATCH /0", {"old_description": "?", "description": "x"}, 404, "Action item not found"),
        ("PATCH /x", {"old_description": TRAIN, "description": "x"}, 404, "Action item not found"),
        ("PATCH /0", {"old_description": PRINTER, "description": " "}, 422, "must not be empty"),
        ("DELETE", {"description": "Unknown"}, 404, "Action item not found"),
    ],
)
async def test_an_invalid_change_is_refused_and_changes_nothing(
    processed_world, alice, request_line, body, status, detail
):
    method, _, path = request_line.partition(" ")
    before = await processed_world.load_everything()

    answer = await alice.request(method, ITEMS + path, json=body)

    assert (answer.status_code, detail in answer.json()["detail"]) == (status, True)
    assert await processed_world.load_everything() == before


async def test_items_of_another_user_are_not_found(processed_world):
    async with build_client(processed_world, "mallory") as mallory:
        answer = await mallory.patch(ITEMS, json={"items_idx": [0], "values": [True]})

    assert answer.status_code == 404
