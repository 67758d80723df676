"""Grant store: what an owner decided about the tools of apps and services, in one document."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json

from shared.domain.chats.consent import Consent, Grant, GrantsByTool
from shared.domain.ids import UserId
from shared.domain.provenance import Source
from shared.domain.store.documents import Document, Set, Write
from shared.ports import Documents, Transaction


class Grants:
    """One document a user, so that a turn reads only one."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def load(self, uid: UserId) -> Consent:
        return load_consent(await self._documents.get(grants_path(uid)))

    async def replace_source(self, uid: UserId, source: Source, grants: GrantsByTool) -> None:
        """Store all grants of one source. Decisions about tools whose pin is the same stay."""

        async def work(transaction: Transaction) -> None:
            consent = load_consent(await transaction.get(grants_path(uid)))
            earlier = consent.grants.get(source.key, {})
            merged = {name: _keep_decision(earlier.get(name), new) for name, new in grants.items()}
            transaction.write(build_grants_write(uid, {**consent.grants, source.key: merged}))

        await self._documents.transaction(work)

    async def add_missing(self, uid: UserId, grants: Mapping[str, GrantsByTool]) -> Consent:
        """Store the grants of sources that have none yet, by their keys; return the whole."""

        async def work(transaction: Transaction) -> Consent:
            consent = load_consent(await transaction.get(grants_path(uid)))
            merged = {**grants, **consent.grants}
            if len(merged) > len(consent.grants):
                transaction.write(build_grants_write(uid, merged))
            return Consent(grants=merged)

        return await self._documents.transaction(work)

    async def set_grant(self, uid: UserId, source: Source, tool: str, grant: Grant) -> None:
        async def work(transaction: Transaction) -> None:
            document = await transaction.get(grants_path(uid))
            transaction.write(build_grant_write(uid, document, source, tool, grant))

        await self._documents.transaction(work)

    async def remove_source(self, uid: UserId, source: Source) -> None:
        async def work(transaction: Transaction) -> None:
            consent = load_consent(await transaction.get(grants_path(uid)))
            if source.key in consent.grants:
                others = {key: g for key, g in consent.grants.items() if key != source.key}
                transaction.write(build_grants_write(uid, others))

        await self._documents.transaction(work)


def build_grant_write(
    uid: UserId, document: Document | None, source: Source, tool: str, grant: Grant
) -> Write:
    """Build the write of one more grant; `document` is what the transaction read at grants_path."""
    return build_grants_write(uid, load_consent(document).with_grant(source, tool, grant).grants)


def build_grants_write(uid: UserId, grants: Mapping[str, GrantsByTool]) -> Write:
    """Store each source's grants as text: a hundred apps would pass the limit of index entries."""
    return Set(grants_path(uid), {"sources": {key: _encode(g) for key, g in grants.items()}})


def grants_path(uid: UserId) -> str:
    return f"users/{uid}/grants/all"


def load_consent(document: Document | None) -> Consent:
    texts = document.fields["sources"] if document else {}
    return Consent(grants={key: _decode(text) for key, text in texts.items()})


def _keep_decision(earlier: Grant | None, new: Grant) -> Grant:
    return earlier if earlier is not None and earlier.pin == new.pin else new


def _encode(grants: GrantsByTool) -> str:
    return to_json({tool: [grant.pin, grant.state] for tool, grant in grants.items()}).decode()


def _decode(text: str) -> dict[str, Grant]:
    stored: dict[str, Any] = from_json(text)
    return {tool: Grant(pin=pin, state=state) for tool, (pin, state) in stored.items()}
