"""Keeping of restored conversations: each once, with the people and folders that this library has.

Also called: restore from backup.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from functions.imports.formats.restored_conversations import Restored, parse_restored
from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.conversations.transcripts import split_transcript
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Speaker, transcript_hash
from shared.domain.ids import FolderId, PersonId, UserId, is_id
from shared.domain.store.documents import Set, Write
from shared.library.deps import ImportDeps
from shared.library.ingestion import ingest

MAX_PEOPLE_LOOKUPS = 500


async def keep_restored(deps: ImportDeps, uid: UserId, fields: dict[str, Any]) -> None:
    """Store a conversation of an export as it was.

    Raises Conflict for one that is in the library, and ValueError, Invalid and TooLarge.
    """
    restored = parse_restored(fields, deps.clock.now())
    conversation = await _find_folder(deps, uid, restored.conversation)
    conversation = await _find_people(deps, uid, conversation)
    is_whole = restored.is_complete and not conversation.has_deleted_transcript
    restored_hash = transcript_hash(split_transcript(conversation)[0]) if is_whole else ""
    conversation = replace(conversation, restored_hash=restored_hash, is_imported=True)
    await ingest(deps, uid, conversation, also=_build_writes(deps, uid, restored))


def _build_writes(deps: ImportDeps, uid: UserId, restored: Restored) -> list[Write]:
    """Return the writes of what stands below a conversation: marks of deletions, and its rating."""
    record, name = restored.record, restored.conversation.id
    path = conversation_path(uid, name)
    writes: list[Write] = [
        Set(tombstone_path(path, derived_id), {"of": collection})
        for derived_id, collection in record.forgotten.items()
    ]
    if record.rating is not None:
        rating = {**dump(record.rating)}
        writes.append(deps.stores.summary_ratings.build_write(uid, name, rating))
    return writes


async def _find_folder(deps: ImportDeps, uid: UserId, conversation: Conversation) -> Conversation:
    """Leave it in no folder where its folder is not here."""
    if conversation.folder_id is None:
        return conversation
    folders = await deps.stores.folders.load(uid)
    known = {folder.id for folder in folders.folders} | {d.id for d in folders.deleted}
    folder_id: FolderId | None = conversation.folder_id
    return conversation if folder_id in known else replace(conversation, folder_id=None)


async def _find_people(deps: ImportDeps, uid: UserId, conversation: Conversation) -> Conversation:
    """Lead each speaker to the person of this library: by id, else by the same name, else to nobody."""
    speakers = [*conversation.speakers.values(), *(a.speaker for a in conversation.assignments)]
    names = {s.person_id: s.name for s in speakers if s.person_id and is_id(s.person_id)}
    known = await deps.stores.people.load_names(uid, sorted(names)[:MAX_PEOPLE_LOOKUPS])
    missing = [name for person_id, name in names.items() if person_id not in known]
    found = await deps.stores.people.list_by_values(uid, "name", sorted(set(missing)))
    ids_by_name = {person.name: person.id for person in found}
    ids = {name: name for name in known} | {
        person_id: ids_by_name[name]
        for person_id, name in names.items()
        if person_id not in known and name in ids_by_name
    }
    return _replace_people(conversation, ids, known)


def _replace_people(
    conversation: Conversation, ids: dict[PersonId, PersonId], names: dict[PersonId, str]
) -> Conversation:
    def lead(speaker: Speaker) -> Speaker:
        if speaker.person_id is None:
            return speaker
        person_id = ids.get(speaker.person_id)
        name = names.get(person_id, speaker.name) if person_id else speaker.name
        return replace(speaker, person_id=person_id, name=name)

    speakers = {label: lead(speaker) for label, speaker in conversation.speakers.items()}
    assignments = tuple(
        replace(each, speaker=lead(each.speaker)) for each in conversation.assignments
    )
    everybody = [*speakers.values(), *(each.speaker for each in assignments)]
    return replace(
        conversation,
        speakers=speakers,
        assignments=assignments,
        person_ids=_list_people(everybody),
    )


def _list_people(speakers: Iterable[Speaker]) -> tuple[PersonId, ...]:
    return tuple(sorted({speaker.person_id for speaker in speakers if speaker.person_id}))
