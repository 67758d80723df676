"""Profiles and devices: concurrent changes are both kept."""

import asyncio
from datetime import UTC, datetime

import pytest

from shared.data.account.profiles import Devices, Profiles
from shared.domain.account.profile import Device, Profile
from shared.domain.ids import UserId
from shared.domain.store.documents import Set

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


async def test_two_concurrent_changes_are_both_stored(documents):
    profiles = Profiles(documents)

    await asyncio.gather(
        profiles.change(ALICE, name="Alice"), profiles.change(ALICE, time_zone="Asia/Tokyo")
    )

    assert await profiles.get(ALICE) == Profile(name="Alice", time_zone="Asia/Tokyo")


async def test_a_change_preserves_the_other_fields_of_the_document(documents):
    await documents.write(Set("users/alice", {"language": "de", "preferences": {"tone": "dry"}}))

    changed = await Profiles(documents).change(ALICE, name="Alice")

    assert changed == Profile(name="Alice", language="de")
    document = await documents.get("users/alice")
    assert document is not None
    assert document.fields["preferences"] == {"tone": "dry"}


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "America", "/etc/passwd", "../x"])
def test_an_unknown_time_zone_counts_as_utc(name):
    assert Profile(time_zone=name).zone.key == "UTC"


async def test_a_device_that_registered_a_new_token_is_not_removed(documents):
    devices = Devices(documents)
    old_devices = [
        Device(id=n, fcm_token=f"old-{n}", time_zone="UTC", updated_at=NOON) for n in "ab"
    ]
    for device in old_devices:
        await devices.save(ALICE, device)
    renewed_device = Device(id="b", fcm_token="new-b", time_zone="UTC", updated_at=NOON)

    await devices.save(ALICE, renewed_device)
    await devices.remove_unless_renewed(ALICE, old_devices)

    assert await devices.list_all(ALICE) == [renewed_device]
