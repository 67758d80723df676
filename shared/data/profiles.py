"""Profile and devices of a user."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from shared.data.codec import dump, load, load_all
from shared.domain.documents import Delete, Query, Set
from shared.domain.ids import UserId
from shared.domain.notification_preferences import Preferences
from shared.domain.profile import Device, Profile
from shared.ports import Documents, Transaction


class Profiles:
    """One profile a user; a user without one has the defaults."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId) -> Profile:
        document = await self._documents.get(f"users/{uid}")
        return load(Profile, document) if document else Profile()

    async def change(self, uid: UserId, **changes: Any) -> Profile:
        """Change fields and return the whole; concurrent changes are both kept."""
        return await self._change(uid, lambda profile: replace(profile, **changes))

    async def change_preferences(self, uid: UserId, **changes: Any) -> Preferences:
        """Change preferences and return the whole; concurrent changes are both kept."""
        changed = await self._change(
            uid,
            lambda profile: replace(
                profile, notifications=replace(profile.notifications, **changes)
            ),
        )
        return changed.notifications

    async def _change(self, uid: UserId, change: Callable[[Profile], Profile]) -> Profile:
        path = f"users/{uid}"

        async def work(tx: Transaction) -> Profile:
            document = await tx.get(path)
            changed = change(load(Profile, document) if document else Profile())
            stored_fields = document.fields if document else {}
            tx.write(Set(path, {**stored_fields, **dump(changed)}))
            return changed

        return await self._documents.transaction(work)


class Devices:
    """Devices that receive a user's pushes."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[Device]:
        query = Query(collection=f"users/{uid}/devices", limit=100)
        return load_all(Device, await self._documents.query(query))

    async def save(self, uid: UserId, device: Device) -> None:
        await self._documents.write(Set(f"users/{uid}/devices/{device.id}", dump(device)))

    async def remove(self, uid: UserId, device_id: str) -> None:
        await self._documents.write(Delete(f"users/{uid}/devices/{device_id}"))

    async def remove_unless_renewed(self, uid: UserId, devices: Sequence[Device]) -> None:
        """Remove devices, except those that registered a new token meanwhile."""
        token_by_path = {f"users/{uid}/devices/{device.id}": device.fcm_token for device in devices}

        async def work(tx: Transaction) -> None:
            stored = await tx.get_many(list(token_by_path))
            tx.write(
                *(
                    Delete(d.path)
                    for d in stored
                    if d and d.fields["fcm_token"] == token_by_path[d.path]
                )
            )

        await self._documents.transaction(work)
