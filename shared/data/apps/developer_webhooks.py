"""Developer webhooks of a user: their addresses, switches and signing secret, in one document."""

from collections.abc import Callable

from shared.data.store.codec import dump, load
from shared.domain.apps.webhook import DeveloperWebhooks
from shared.domain.ids import UserId
from shared.domain.store.documents import Document, Set
from shared.ports import Documents, Transaction


class DeveloperWebhookStore:
    """A user without the document has no webhooks."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId) -> DeveloperWebhooks:
        return _load(await self._documents.get(_build_path(uid)))

    async def change(
        self, uid: UserId, change: Callable[[DeveloperWebhooks], DeveloperWebhooks]
    ) -> DeveloperWebhooks:
        """Apply `change` in a transaction and return the whole."""

        async def work(transaction: Transaction) -> DeveloperWebhooks:
            before = _load(await transaction.get(_build_path(uid)))
            changed = change(before)
            if changed != before:
                transaction.write(Set(_build_path(uid), dump(changed)))
            return changed

        return await self._documents.transaction(work)


def _load(document: Document | None) -> DeveloperWebhooks:
    return load(DeveloperWebhooks, document) if document else DeveloperWebhooks()


def _build_path(uid: UserId) -> str:
    return f"users/{uid}/developer_webhooks/all"
