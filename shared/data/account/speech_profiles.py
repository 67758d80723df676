"""Speech profiles: the sample of a user's voice, if they gave one."""

from shared.data.store.codec import dump, load
from shared.domain.account.speech_profile import SpeechProfile
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Set
from shared.ports import Documents, Transaction


class SpeechProfiles:
    """Documents `users/{uid}/speech_profile/own`; the sound lies in a blob of the same path."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId) -> SpeechProfile | None:
        document = await self._documents.get(speech_profile_path(uid))
        return load(SpeechProfile, document) if document else None

    async def replace(self, uid: UserId, profile: SpeechProfile | None) -> int:
        """Store a profile in place of another, or none; return the bytes that the other had."""
        path = speech_profile_path(uid)

        async def work(tx: Transaction) -> int:
            document = await tx.get(path)
            tx.write(Set(path, dump(profile)) if profile else Delete(path))
            return load(SpeechProfile, document).size if document else 0

        return await self._documents.transaction(work)

    async def count_bytes(self, uid: UserId) -> int:
        """Return what it counts as stored."""
        profile = await self.find(uid)
        return profile.size if profile else 0


def speech_profile_path(uid: UserId) -> str:
    return f"users/{uid}/speech_profile/own"
