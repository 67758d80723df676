"""Devices of a user: bounded, and the oldest is forgotten first."""

from datetime import UTC, datetime, timedelta

from shared.data.account.profiles import MAX_BROWSERS, MAX_DEVICES, Devices
from shared.domain.account.profile import Device
from shared.domain.ids import UserId
from shared.ports import Documents

START = datetime(2026, 3, 2, tzinfo=UTC)


async def test_the_device_that_registered_longest_ago_gives_way_u7(documents: Documents) -> None:
    devices = Devices(documents)
    for number in range(MAX_DEVICES + 2):
        at = START + timedelta(minutes=number)
        device = Device(id=f"web_{number}", fcm_token=f"t{number}", time_zone="UTC", updated_at=at)
        await devices.save(UserId("alice"), device)

    ids = {device.id for device in await devices.list_all(UserId("alice"))}
    assert ids == {f"web_{number}" for number in range(2, MAX_DEVICES + 2)}


async def test_of_many_browsers_the_latest_stay_and_phones_are_not_pushed_out(documents: Documents):
    devices = Devices(documents)
    for number in range(MAX_BROWSERS + 2):
        at = START + timedelta(minutes=number)
        for name, token in ((f"web_{number}", f'{{"endpoint": {number}}}'), (f"ios_{number}", "t")):
            device = Device(id=name, fcm_token=token, time_zone="UTC", updated_at=at)
            await devices.save(UserId("alice"), device)

    ids = {device.id for device in await devices.list_all(UserId("alice"))}
    phones = {f"ios_{number}" for number in range(MAX_BROWSERS + 2)}
    assert ids - phones == {f"web_{number}" for number in range(2, MAX_BROWSERS + 2)}
    assert phones <= ids
