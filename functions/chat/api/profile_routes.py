"""Routes of the profile and of devices that take push notifications.

Also called: device token.
"""

from dataclasses import asdict, replace
from typing import Any
from zoneinfo import ZoneInfo

from starlette.datastructures import Headers

from functions.chat.api.profile_schemas import FcmTokenIn, ProfileIn, ProfileOut
from functions.chat.deps import ChatDeps
from shared.domain.account.profile import Device
from shared.domain.conversations.own_names import deduplicate_names
from shared.domain.errors import Invalid
from shared.domain.ids import UserId, is_id
from shared.edge.declare.common_schemas import CapitalOkOut, OkOut
from shared.edge.declare.routes import Call, route
from shared.library.own_names_schedule import schedule_marking
from shared.library.retention_schedule import schedule_retention
from shared.library.summary_schedule import schedule_recent_days


@route("GET", "/v1/users/profile", "Read the profile")
async def get_profile(deps: ChatDeps, call: Call) -> ProfileOut:
    return ProfileOut.model_validate(asdict(await deps.stores.profiles.get(call.uid)))


@route("PATCH", "/v1/users/profile", "Change the profile")
async def change_profile(deps: ChatDeps, call: Call[ProfileIn]) -> ProfileOut:
    changes: dict[str, Any] = call.body.model_dump(exclude_none=True)
    if "time_zone" in changes:
        _check_time_zone(changes["time_zone"])
        await _schedule_summaries_in(deps, call.uid, changes["time_zone"])
    if "retention_days" in changes:
        changes["retention_set_at"] = deps.clock.now()
    if "own_names" in changes:
        changes["own_names"] = deduplicate_names(changes["own_names"])
        changes["own_names_set_at"] = deps.clock.now()
    if "interests" in changes:
        changes["interests"] = deduplicate_names(changes["interests"])
    profile = await deps.stores.profiles.change(call.uid, **changes)
    if "own_names" in changes:
        await schedule_marking(deps.tasks, call.uid, profile)
    if "retention_days" in changes:
        await schedule_retention(deps.tasks, call.uid, profile, at=deps.clock.now())
    return ProfileOut.model_validate(asdict(profile))


@route(
    "POST",
    "/v1/users/fcm-token",
    "Register a device",
    max_bytes=32_768,
)
async def save_fcm_token(deps: ChatDeps, call: Call[FcmTokenIn]) -> CapitalOkOut:
    zone = call.body.time_zone
    _check_time_zone(zone)
    device = Device(
        id=_parse_device_id(call.headers),
        fcm_token=call.body.fcm_token,
        time_zone=zone,
        updated_at=deps.clock.now(),
    )
    await deps.stores.devices.save(call.uid, device)
    await _schedule_summaries_in(deps, call.uid, zone)
    await deps.stores.profiles.change(call.uid, time_zone=zone)
    return CapitalOkOut()


@route("DELETE", "/v1/users/fcm-token", "Unregister a device", errors=(422,))
async def remove_fcm_token(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.devices.remove(call.uid, _parse_device_id(call.headers))
    return OkOut()


async def _schedule_summaries_in(deps: ChatDeps, uid: UserId, time_zone: str) -> None:
    """Schedule daily summaries in another time zone, where they may be due earlier.

    The zone is stored afterwards: a request that is repeated still finds another one.
    """
    profile = await deps.stores.profiles.get(uid)
    if profile.time_zone != time_zone:
        moved_profile = replace(profile, time_zone=time_zone)
        await schedule_recent_days(deps.tasks, uid, moved_profile, deps.clock.now())


def _check_time_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(
            f"The time zone {name!r} is not known; send a name such as 'Europe/Berlin'."
        ) from error


def _parse_device_id(headers: Headers) -> str:
    """Build the device's id from the app's headers, with the defaults of released apps."""
    platform = headers.get("x-app-platform", "unknown")
    device_hash = headers.get("x-device-id-hash", "default")
    device_id = f"{platform}_{device_hash}"
    if not is_id(device_id):
        raise Invalid("X-App-Platform and X-Device-Id-Hash: at most 63 of A-Z a-z 0-9 _ - together")
    return device_id


ROUTES = (get_profile, change_profile, save_fcm_token, remove_fcm_token)
