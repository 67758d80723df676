"""Chat sessions: each a document that counts its messages and holds what is derived from them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shared.data.store.codec import dump, load, load_all
from shared.data.store.paging import Page, build_page, parse_cursor
from shared.domain.chats.chat import Fork, Message, Session
from shared.domain.chats.chat_notes import AnswerNotes
from shared.domain.chats.details_request import Requests
from shared.domain.chats.exercise import ActiveExercise
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import AppId, FocusModeId, ProjectId, SessionId, UserId, is_id
from shared.domain.store.documents import Create, Order, Query, Set, Update, Where

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

_DERIVED = (
    "title",
    "title_kinds",
    "notes",
    "summary",
    "summary_kinds",
    "summarised_until",
    "summarised_branch",
    "summarised_files",
)
_MAX_COMPARED_TAGS = 10
"""Three spellings of each are the alternatives that a query may have."""


class Sessions:
    """A user's chat sessions."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def get(self, uid: UserId, session_id: SessionId) -> Session | None:
        document = await self._documents.get(session_path(uid, session_id))
        return load(Session, document) if document else None

    async def get_many(self, uid: UserId, session_ids: Sequence[SessionId]) -> list[Session]:
        """Return the sessions that exist."""
        paths = [session_path(uid, session_id) for session_id in session_ids]
        return load_all(Session, await self._documents.get_many(paths))

    async def list_page(
        self,
        uid: UserId,
        *,
        app_id: AppId | None = None,
        starred: bool | None = None,
        project_id: ProjectId | None = None,
        limit: int,
        after: str | None = None,
    ) -> Page[Session]:
        """Return chats from the cursor `after` on, the one with the newest message first.

        A filter of None lets everything pass; a project stands alone.
        """
        filters = {"app_id": app_id, "starred": starred, "project_id": project_id}
        query = Query(
            collection=f"users/{uid}/chat_sessions",
            where=tuple(Where(name, "==", v) for name, v in filters.items() if v is not None),
            order_by=(Order("updated_at", "desc"),),
            limit=limit,
            start_after=parse_cursor(after),
        )
        documents = await self._documents.query(query)
        return build_page(load_all(Session, documents), documents, query)

    async def list_tagged(self, uid: UserId, tags: Sequence[str], *, limit: int) -> list[Session]:
        """Return the newest chats with one of the first ten tags, whatever the case of its first letter.

        Of each there are its title and its notes alone.
        """
        spellings = dict.fromkeys(
            spelling
            for tag in tags[:_MAX_COMPARED_TAGS]
            for spelling in (tag, tag.lower(), tag.capitalize())
        )
        query = Query(
            collection=f"users/{uid}/chat_sessions",
            where=(Where("notes.tags", "array_contains_any", tuple(spellings)),),
            order_by=(Order("updated_at", "desc"),),
            limit=limit,
            fields=("created_at", "updated_at", "title", "notes"),
        )
        return load_all(Session, await self._documents.query(query))

    async def add(self, uid: UserId, session: Session) -> None:
        await self._documents.write(Create(session_path(uid, session.id), dump(session)))

    async def restore(self, uid: UserId, session: Session) -> None:
        """Store a chat without its messages; one that is stored gets the versions that it lacks."""
        path = session_path(uid, session.id)

        async def work(tx: "Transaction") -> None:
            document = await tx.get(path)
            if document is None:
                tx.write(Set(path, dump(session)))
                return
            stored = load(Session, document)
            known = {fork.id for fork in stored.forks}
            new = [fork for fork in session.forks if fork.id not in known]
            if new:
                tx.write(
                    Update(
                        path, {"forks": dump(replace(stored, forks=(*stored.forks, *new)))["forks"]}
                    )
                )

        await self._documents.transaction(work)

    async def change(self, uid: UserId, session_id: SessionId, **changes: Any) -> None:
        """Change fields. Raises NotFound."""
        try:
            await self._documents.write(Update(session_path(uid, session_id), changes))
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def forget_notes(self, uid: UserId, session: Session) -> None:
        """Delete what was derived from the messages of a chat, unless that was deleted itself."""
        fields = dump(session.without_notes())
        with suppress(NotFound):
            await self.change(uid, session.id, **{name: fields[name] for name in _DERIVED})

    async def set_focus(self, uid: UserId, session: Session, focus: FocusModeId | None) -> Session:
        """Set the focus mode of a chat and return the whole; a main chat may begin with it.

        Raises NotFound where any other was deleted.
        """
        return await self._set(uid, session, lambda _: {"focus": focus})

    async def change_exercise(
        self,
        uid: UserId,
        session: Session,
        change: Callable[[ActiveExercise | None], ActiveExercise | None],
    ) -> Session:
        """Change where a chat is in an exercise and return the whole; a main chat may begin with it.

        Raises NotFound where any other was deleted, and what `change` raises.
        """
        return await self._set(uid, session, lambda stored: {"exercise": change(stored.exercise)})

    async def change_requests(
        self, uid: UserId, session_id: SessionId, change: Callable[[Requests], Requests]
    ) -> Session:
        """Change what was asked to be read in a chat, and return the whole.

        Raises NotFound, and what `change` raises.
        """

        async def work(tx: "Transaction") -> Session:
            session = await load_stored_session(tx, uid, session_id)
            changed = replace(session, requests=change(session.requests))
            if changed != session:
                path = session_path(uid, session_id)
                tx.write(Update(path, {"requests": dump(changed)["requests"]}))
            return changed

        try:
            return await self._documents.transaction(work)
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def _set(
        self, uid: UserId, session: Session, change: Callable[[Session], dict[str, Any]]
    ) -> Session:
        path = session_path(uid, session.id)

        async def work(tx: "Transaction") -> Session:
            document = await tx.get(path)
            if document is None and not session.is_main:
                raise NotFound("Chat session not found")
            stored = load(Session, document) if document else session
            changes = change(stored)
            changed = replace(stored, **changes)
            fields = dump(changed)
            tx.write(
                Update(path, {name: fields[name] for name in changes})
                if document
                else Set(path, fields)
            )
            return changed

        return await self._documents.transaction(work)

    async def change_forks(
        self,
        uid: UserId,
        session_id: SessionId,
        change: Callable[[tuple[Fork, ...]], tuple[Fork, ...]],
    ) -> Session:
        """Change which versions are shown, and return the whole. Raises NotFound."""

        async def work(tx: "Transaction") -> Session:
            session = await load_stored_session(tx, uid, session_id)
            changed = replace(session, forks=change(session.forks))
            if changed != session:
                tx.write(Update(session_path(uid, session_id), {"forks": dump(changed)["forks"]}))
            return changed

        try:
            return await self._documents.transaction(work)
        except PreconditionFailed as error:
            raise NotFound("Chat session not found") from error

    async def update_derived(
        self, uid: UserId, expected_session: Session, *, source: Message, **changes: Any
    ) -> Session | None:
        """Change what is derived from `source`, and return the whole.

        None, and nothing is changed, where the session differs from `expected_session` (another
        process derived it meanwhile) or the message is gone: the chat was cleared or deleted.
        """
        path = session_path(uid, expected_session.id)

        async def work(tx: "Transaction") -> Session | None:
            stored, message = await tx.get_many([path, f"users/{uid}/messages/{source.id}"])
            if stored is None or message is None:
                return None
            session = load(Session, stored)
            if any(getattr(session, name) != getattr(expected_session, name) for name in changes):
                return None
            changed = replace(session, **changes)
            fields = dump(changed)
            tx.write(Update(path, {name: fields[name] for name in changes}))
            return changed

        return await self._documents.transaction(work)

    async def save_notes(
        self,
        uid: UserId,
        session_id: SessionId,
        answer: Message,
        notes: AnswerNotes,
        *,
        harm: float | None,
        change: Callable[[Session], Mapping[str, Any]],
    ) -> None:
        """Store the notes and the rating of an answer, once, with what changes in its chat.

        Nothing where the answer has notes, or where it or the chat is gone.
        """
        paths = [session_path(uid, session_id), f"users/{uid}/messages/{answer.id}"]

        async def work(tx: "Transaction") -> None:
            stored, message = await tx.get_many(paths)
            if stored is None or message is None or load(Message, message).notes is not None:
                return
            session = load(Session, stored)
            changes = change(session)
            fields = dump(replace(session, **changes))
            if changes:
                tx.write(Update(paths[0], {name: fields[name] for name in changes}))
            rating = {} if harm is None else {"harm": harm}
            tx.write(Update(paths[1], {"notes": dump(notes), **rating}))

        await self._documents.transaction(work)


async def load_stored_session(tx: "Transaction", uid: UserId, session_id: SessionId) -> Session:
    """Read a session in a transaction. Raises PreconditionFailed where it was deleted."""
    document = await tx.get(session_path(uid, session_id))
    if document is None:
        raise PreconditionFailed("The chat was deleted")
    return load(Session, document)


def session_path(uid: UserId, session_id: SessionId) -> str:
    """Raises NotFound for what is no id."""
    if not is_id(session_id):
        raise NotFound("Chat session not found")
    return f"users/{uid}/chat_sessions/{session_id}"
