"""Changes of a person of the soak: conversations merged and deleted, a friend renamed, sessions and the account ended."""

from infra.soak.person import Person

FRIEND = "friend"
CHANGE_SHARE = 0.5
"""How often a person who asked and recorded changes something, too."""


async def change_something(person: Person) -> None:
    """Change one thing, or nothing: most of the time people ask and record."""
    changes = [merge, delete, rename, sign_out, erase]
    if person.random.random() < CHANGE_SHARE:
        change = person.random.choice(changes)
        person.changes[change.__name__] += 1
        await change(person)


async def merge(person: Person) -> None:
    """Merge the last two conversations."""
    sources = person.conversation_ids[-2:]
    if len(sources) < 2:
        return
    answer = await person.send(
        "POST", "/v1/conversations/merge", json={"conversation_ids": sources}
    )
    if answer.is_success:
        person.conversation_ids[-2:] = [answer.json()["merged_conversation_id"]]
        person.deleted_ids.update(sources)


async def delete(person: Person) -> None:
    """Delete a conversation with what was made of it; a repeat does not find it any more."""
    name = person.random.choice(person.conversation_ids)
    person.conversation_ids.remove(name)
    person.deleted_ids.add(name)
    await person.send("DELETE", f"/v1/conversations/{name}?cascade=true")


async def rename(person: Person) -> None:
    """Give the friend another name, and make their acquaintance before."""
    if not person.friend_name:
        await person.send("POST", "/v1/users/people", json={"id": FRIEND, "name": "Ann"})
    person.friend_name = f"Ann {person.random.random()}"
    path = f"/v1/users/people/{FRIEND}/name"
    await person.send("PATCH", path, json={"value": person.friend_name})


async def sign_out(person: Person) -> None:
    """End all sessions, and begin another."""
    await person.send("POST", "/v1/users/sign-out", json={})
    await person.enter_again()


async def erase(person: Person) -> None:
    """Erase the account, and come back as somebody new."""
    await person.send("DELETE", "/v1/users/delete-account")
    await person.become_another()
