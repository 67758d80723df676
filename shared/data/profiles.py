"""A user's profile and devices."""

from shared.data.codec import dump, load, load_all
from shared.domain.documents import Delete, Query, Set
from shared.domain.ids import UserId
from shared.domain.profile import Device, Profile
from shared.ports import Documents


class Profiles:
    """One profile a user; a user without one has the defaults."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId) -> Profile:
        document = await self._documents.get(f"users/{uid}")
        return load(Profile, document) if document else Profile()

    async def save(self, uid: UserId, profile: Profile) -> None:
        await self._documents.write(Set(f"users/{uid}", dump(profile)))


class Devices:
    """Where a user's pushes arrive."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def all(self, uid: UserId) -> list[Device]:
        query = Query(collection=f"users/{uid}/devices", limit=100)
        return load_all(Device, await self._documents.query(query))

    async def save(self, uid: UserId, device: Device) -> None:
        await self._documents.write(Set(f"users/{uid}/devices/{device.id}", dump(device)))

    async def remove(self, uid: UserId, device_ids: list[str]) -> None:
        await self._documents.write(*(Delete(f"users/{uid}/devices/{i}") for i in device_ids))
