"""Logo store: the picture of each app, in a document of its own under the hash of its content."""

from typing import TYPE_CHECKING

from shared.domain.apps.app import App, AppLogo
from shared.domain.ids import AppId
from shared.domain.store.documents import Delete, Set, Write

if TYPE_CHECKING:
    from shared.ports import Documents


class AppLogos:
    """Pictures of apps; they are written together with their app."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def find(self, app_id: AppId, logo_hash: str) -> AppLogo | None:
        document = await self._documents.get(_build_path(app_id, logo_hash))
        return AppLogo(hash=logo_hash, content=document.fields["content"]) if document else None


def build_logo_writes(before: App | None, app: App, logo: AppLogo | None) -> list[Write]:
    """Return what stores an app's new picture and deletes the one that it had before."""
    if logo is None:
        return []
    writes: list[Write] = [Set(_build_path(app.id, logo.hash), {"content": logo.content})]
    if before and before.logo and before.logo != logo.hash:
        writes.append(Delete(_build_path(app.id, before.logo)))
    return writes


def _build_path(app_id: AppId, logo_hash: str) -> str:
    return f"apps/{app_id}/logos/{logo_hash}"
