"""Profile and devices of a user."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared.data.store.codec import dump, load, load_all
from shared.domain.account.notification_preferences import Preferences
from shared.domain.account.profile import Device, Profile
from shared.domain.chats.focus_mode import FocusModes, FocusModesChange
from shared.domain.chats.rule import Rules, RulesChange
from shared.domain.conversations.daily_summary import DailySummarySettings
from shared.domain.conversations.own_names import MAX_OWN_NAMES, deduplicate_names
from shared.domain.errors import Invalid
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Delete, Query, Set
from shared.domain.store.vector_home import VectorHome
from shared.ports import Documents, Transaction


class Profiles:
    """One profile a user; a user without one has the defaults."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId) -> Profile:
        document = await self._documents.get(profile_path(uid))
        return load(Profile, document) if document else Profile()

    async def change(self, uid: UserId, **changes: Any) -> Profile:
        """Change fields and return the whole; concurrent changes are both kept."""
        return await self._change(uid, lambda profile: replace(profile, **changes))

    async def forget_summary_app(self, uid: UserId, app_id: AppId) -> None:
        """Let this app write no summaries any more; another that was chosen meanwhile stays."""

        def change(profile: Profile) -> Profile:
            is_chosen = profile.summary_app == app_id
            return replace(profile, summary_app=None) if is_chosen else profile

        await self._change(uid, change)

    async def add_own_name(self, uid: UserId, name: str, *, now: datetime) -> Profile:
        """Add a name by which transcripts call the owner, once. Raises Invalid beyond the limit."""

        def change(profile: Profile) -> Profile:
            names = deduplicate_names([*profile.own_names, name])
            if len(names) > MAX_OWN_NAMES:
                raise Invalid(f"At most {MAX_OWN_NAMES} names can be yours; remove one first.")
            return replace(profile, own_names=names, own_names_set_at=now)

        return await self._change(uid, change)

    async def begin_wipe(self, uid: UserId, *, now: datetime) -> None:
        """Let nothing that is being made of earlier words be remembered, before all memories are deleted."""
        await self._change(
            uid,
            lambda profile: replace(profile, forgot_at=now, memory_wipes=profile.memory_wipes + 1),
        )

    async def change_focus_modes(self, uid: UserId, change: FocusModesChange) -> FocusModes:
        """Change the saved focus modes and return them. Raises what `change` raises."""
        changed = await self._change(
            uid, lambda profile: replace(profile, focus_modes=change(profile.focus_modes))
        )
        return changed.focus_modes

    async def change_rules(self, uid: UserId, change: RulesChange) -> Rules:
        """Change the rules and return them. Raises what `change` raises."""
        changed = await self._change(
            uid, lambda profile: replace(profile, rules=change(profile.rules))
        )
        return changed.rules

    async def change_vector_home(
        self, uid: UserId, change: Callable[[VectorHome | None], VectorHome]
    ) -> None:
        """Change in which buckets the user's rows are. Raises what `change` raises."""
        await self._change(
            uid, lambda profile: replace(profile, vector_home=change(profile.vector_home))
        )

    async def fill(self, uid: UserId, settings: Mapping[str, Any], *, now: datetime) -> Profile:
        """Take those settings that the user has not chosen; return the whole."""
        usual = Profile()

        def change(profile: Profile) -> Profile:
            new = {n: v for n, v in settings.items() if getattr(profile, n) == getattr(usual, n)}
            if "own_names" in new:
                new["own_names_set_at"] = now
            return replace(profile, **new)

        return await self._change(uid, change)

    async def change_preferences(self, uid: UserId, **changes: Any) -> Preferences:
        """Change preferences and return the whole; concurrent changes are both kept."""
        changed = await self._change(
            uid,
            lambda profile: replace(
                profile, notifications=replace(profile.notifications, **changes)
            ),
        )
        return changed.notifications

    async def change_daily_summary(
        self, uid: UserId, **changes: Any
    ) -> tuple[DailySummarySettings, Profile]:
        """Change when daily summaries are due; return the settings before, and the whole profile."""
        before: list[DailySummarySettings] = []

        def change(profile: Profile) -> Profile:
            before[:] = [profile.daily_summary]
            return replace(profile, daily_summary=replace(profile.daily_summary, **changes))

        changed = await self._change(uid, change)
        return before[0], changed

    async def change_hearing(self, uid: UserId, **changes: Any) -> Profile:
        """Change how recordings are transcribed; concurrent changes of other fields are kept."""
        return await self._change(
            uid, lambda profile: replace(profile, hearing=replace(profile.hearing, **changes))
        )

    async def _change(self, uid: UserId, change: Callable[[Profile], Profile]) -> Profile:
        path = profile_path(uid)

        async def work(tx: Transaction) -> Profile:
            document = await tx.get(path)
            changed = change(load(Profile, document) if document else Profile())
            stored_fields = document.fields if document else {}
            tx.write(Set(path, {**stored_fields, **dump(changed)}))
            return changed

        return await self._documents.transaction(work)


MAX_DEVICES = 50
"""Beyond these, the device that registered longest ago is forgotten."""
MAX_BROWSERS = 10
"""Of the devices. Each push asks the address of each, and their owner may name any host."""


class Devices:
    """Devices that receive a user's pushes, at most MAX_DEVICES, of them MAX_BROWSERS browsers."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[Device]:
        query = Query(collection=f"users/{uid}/devices", limit=100)
        return load_all(Device, await self._documents.query(query))

    async def save(self, uid: UserId, device: Device) -> None:
        """Store a device, and forget the oldest ones beyond the limits."""
        await self._documents.write(Set(f"users/{uid}/devices/{device.id}", dump(device)))
        devices = sorted(await self.list_all(uid), key=lambda stored: stored.updated_at)
        browsers = [stored for stored in devices if stored.is_browser]
        for oldest in {*devices[:-MAX_DEVICES], *browsers[:-MAX_BROWSERS]}:
            await self.remove(uid, oldest.id)

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


def profile_path(uid: UserId) -> str:
    return f"users/{uid}"
