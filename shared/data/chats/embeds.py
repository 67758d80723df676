"""Embeds: what tools returned for answers, kept as long as a chat refers to it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from shared.data.store.codec import dump, load, load_all
from shared.data.store.paging import Page
from shared.data.store.records import Records
from shared.domain.chats.embed import Embed, VersionOrder, compare_versions
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import EmbedId, RunId, SessionId, UserId, is_id
from shared.domain.store.documents import Delete, Document, Query, Set, Update, Where, Write
from shared.ports import Transaction

_MAX_DELETED = 100


class Embeds(Records[Embed]):
    """A user's embeds."""

    kind = Embed
    collection = "embeds"
    noun = "Embed"

    async def find_all(self, uid: UserId, embed_ids: Sequence[EmbedId]) -> list[Embed]:
        """Return those that are there, in one read and in this order."""
        paths = [self.document_path(uid, name) for name in embed_ids if is_id(name)]
        return load_all(Embed, await self._documents.get_many(paths)) if paths else []

    async def list_of_session(
        self, uid: UserId, session_id: SessionId, *, limit: int, after: str | None = None
    ) -> Page[Embed]:
        """Return the embeds of a chat from the cursor `after` on, the newest first. Raises Invalid."""
        where = (_refers_to(session_id),)
        return await self.list_page(uid, limit=limit, after=after, where=where)

    async def add_of_run(self, uid: UserId, run_id: RunId, embeds: Sequence[Embed]) -> None:
        """Store what the tools of a run returned, all or none; a repeat writes the same.

        Raises PreconditionFailed for a deleted run: nothing is left in a chat that is gone.
        """
        is_there = Update(f"users/{uid}/runs/{run_id}", {"has_embeds": True})
        sets = [Set(self.document_path(uid, embed.id), dump(embed)) for embed in embeds]
        await self._documents.write(is_there, *sets)

    async def put(self, uid: UserId, embed: Embed) -> VersionOrder:
        """Store a version that is newer than the one there, or the first.

        The same and an older one change nothing but which chats refer to it. What it belongs to stays
        as it was first stored.
        """
        path = self._build_valid_path(uid, embed.id)

        async def work(tx: Transaction) -> VersionOrder:
            document = await tx.get(path)
            if document is None:
                tx.write(Set(path, dump(embed)))
                return "newer"
            stored = load(Embed, document)
            order = compare_versions(stored.version, embed.version)
            kept = _replace_content(stored, embed) if order == "newer" else stored
            session_ids = tuple(dict.fromkeys([*stored.session_ids, *embed.session_ids]))
            changed = replace(kept, session_ids=session_ids)
            if changed != stored:
                tx.write(Set(path, dump(changed)))
            return order

        return await self._documents.transaction(work)

    async def delete_for_session(self, uid: UserId, session_id: SessionId) -> None:
        """Delete the embeds of a chat; those that another chat refers to as well stay there."""
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(_refers_to(session_id),),
            limit=_MAX_DELETED,
            fields=("session_ids",),
        )
        while documents := await self._documents.query(query):
            with suppress(PreconditionFailed):  # another chat came to refer to one meanwhile
                await self._documents.write(*(_build_removal(d, session_id) for d in documents))


def _refers_to(session_id: SessionId) -> Where:
    return Where("session_ids", "array_contains", session_id)


def _replace_content(stored: Embed, newer: Embed) -> Embed:
    return replace(
        stored,
        type=newer.type,
        status=newer.status,
        content=newer.content,
        preview=newer.preview,
        content_hash=newer.content_hash,
        length=newer.length,
        version=newer.version,
        embed_ids=newer.embed_ids,
    )


def _build_removal(document: Document, session_id: SessionId) -> Write:
    others = [other for other in document.fields["session_ids"] if other != session_id]
    if others:
        return Update(document.path, {"session_ids": others}, version=document.version)
    return Delete(document.path, version=document.version)
