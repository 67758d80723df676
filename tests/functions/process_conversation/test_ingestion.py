"""Ingestion within the quotas of a user: bytes a day, and bytes stored in all (S5, P34)."""

from shared.data.account.quotas import Quotas
from tests.fixtures.library import BODY, CONVERSATIONS, SEGMENT, build_client
from tests.fixtures.processing import ALICE, ProcessingFixture

SIZE = len(SEGMENT["text"])


def build_body(name: str) -> dict[str, object]:
    return {**BODY, "id": name}


async def read_stored_bytes(world: ProcessingFixture) -> int:
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    return usage["stored_bytes"]


async def test_conversations_beyond_the_days_bytes_are_refused_unstored_s5(world) -> None:
    async with build_client(world, ALICE, {"ingested_bytes": 2 * SIZE + 1}) as http:
        statuses = [
            (await http.post(CONVERSATIONS, json=build_body(name))).status_code for name in "ab"
        ]
        refusal = await http.post(CONVERSATIONS, json=build_body("c"))
        unstored = await http.get(f"{CONVERSATIONS}/c")

    assert (statuses, refusal.status_code, unstored.status_code) == ([202, 202], 429, 404)
    assert refusal.json()["violated-policies"] == ["ingested-bytes"]
    assert await read_stored_bytes(world) == 2 * SIZE


async def test_stored_bytes_are_bounded_and_freed_by_deleting_p34(world) -> None:
    async with build_client(world, ALICE, {"stored_bytes": SIZE}) as http:
        await http.post(CONVERSATIONS, json=build_body("a"))
        refusal = await http.post(CONVERSATIONS, json=build_body("b"))
        await http.delete(f"{CONVERSATIONS}/a")
        response = await http.post(CONVERSATIONS, json=build_body("b"))

    assert (refusal.status_code, refusal.json()["violated-policies"]) == (429, ["stored-bytes"])
    assert "It continues once you delete some" in refusal.json()["detail"]
    assert (response.status_code, await read_stored_bytes(world)) == (202, SIZE)


async def test_a_repeated_conversation_takes_up_no_more_room_p34(world) -> None:
    async with build_client(world, ALICE) as http:
        await http.post(CONVERSATIONS, json=build_body("a"))
        await http.post(CONVERSATIONS, json=build_body("a"))
        changed = {**build_body("a"), "source": "other"}
        conflict = await http.post(CONVERSATIONS, json=changed)

    assert conflict.status_code == 409
    assert await read_stored_bytes(world) == SIZE
