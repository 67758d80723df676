"""The chat's route table and its handlers: parse, one call, answer."""

from dataclasses import asdict
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.responses import Response

from functions.chat import (
    confirmation_endpoints,
    diagnostics,
    run_endpoints,
    session_endpoints,
    thread,
)
from functions.chat.after_turn import after_turn
from functions.chat.wire import (
    ChatQuery,
    FcmTokenBody,
    FcmTokenSaved,
    MessageOut,
    Ok,
    PageQuery,
    ProfileBody,
    ProfileOut,
    RatingQuery,
    Reported,
    TurnEnded,
    message_out,
)
from functions.chat.wiring import AfterTurnDeps, ChatDeps
from shared.domain.errors import Invalid
from shared.domain.ids import MessageId, SessionId, UserId, is_id
from shared.domain.profile import Device
from shared.edge.cloudevents import pubsub_event
from shared.edge.http import Call, Endpoint
from shared.edge.problems import problem


async def list_messages(deps: ChatDeps, call: Call[None]) -> list[MessageOut]:
    query: PageQuery = call.query
    if query.before is not None:
        before = MessageId(query.before)
        found = await thread.older(deps, call.uid, query.session_id, before)
    else:
        found = await thread.newest(deps, call.uid, query.app, query.session)
    return [message_out(message) for message in found]


async def clear_messages(deps: ChatDeps, call: Call[None]) -> MessageOut:
    return message_out(await thread.clear(deps, call.uid, call.query.app, call.query.session))


async def initial_message(deps: ChatDeps, call: Call[None]) -> MessageOut:
    return message_out(await thread.begin(deps, call.uid, call.query.app, call.query.session))


async def report_message(deps: ChatDeps, call: Call[None]) -> Reported | Response:
    try:
        await thread.report(deps, call.uid, MessageId(call.path["id"]))
    except Invalid as refusal:
        return problem(400, str(refusal))
    return Reported()


async def rate_message(deps: ChatDeps, call: Call[None]) -> Ok:
    query: RatingQuery = call.query
    await thread.rate(deps, call.uid, MessageId(query.message_id), query.value, query.reason)
    return Ok()


async def get_profile(deps: ChatDeps, call: Call[None]) -> ProfileOut:
    return ProfileOut.model_validate(asdict(await deps.profiles.get(call.uid)))


async def change_profile(deps: ChatDeps, call: Call[ProfileBody]) -> ProfileOut:
    changes: dict[str, Any] = call.body.model_dump(exclude_none=True)
    if "time_zone" in changes:
        _check_zone(changes["time_zone"])
    profile = await deps.profiles.change(call.uid, **changes)
    return ProfileOut.model_validate(asdict(profile))


async def save_fcm_token(deps: ChatDeps, call: Call[FcmTokenBody]) -> FcmTokenSaved:
    zone = call.body.time_zone
    _check_zone(zone)
    device = Device(
        id=_device_id(call.headers),
        fcm_token=call.body.fcm_token,
        time_zone=zone,
        updated_at=deps.clock.now(),
    )
    await deps.devices.save(call.uid, device)
    await deps.profiles.change(call.uid, time_zone=zone)
    return FcmTokenSaved()


async def remove_fcm_token(deps: ChatDeps, call: Call[None]) -> Ok:
    await deps.devices.remove(call.uid, _device_id(call.headers))
    return Ok()


async def on_turn_ended(deps: AfterTurnDeps, call: Call[bytes]) -> None:
    try:
        told = TurnEnded.model_validate(pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a turn") from error
    await after_turn(deps, UserId(told.uid), SessionId(told.session_id))


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(f"time_zone: {name!r} is no IANA zone such as Europe/Berlin") from error


def _device_id(headers: Headers) -> str:
    """Name the device as the app describes itself, with the old product's defaults."""
    platform = headers.get("x-app-platform", "unknown")
    mark = headers.get("x-device-id-hash", "default")
    device_id = f"{platform}_{mark}"
    if not is_id(device_id):
        raise Invalid("X-App-Platform and X-Device-Id-Hash: at most 63 of A-Z a-z 0-9 _ - together")
    return device_id


def _messages(version: str) -> tuple[Endpoint, ...]:
    """Routes that released apps still call under both versions."""
    return (
        Endpoint(
            method="DELETE",
            path=f"/{version}/messages",
            handler=clear_messages,
            summary="Clear a chat",
            query=ChatQuery,
            response=MessageOut,
            errors=(404,),
        ),
        Endpoint(
            method="POST",
            path=f"/{version}/initial-message",
            handler=initial_message,
            summary="Begin a chat",
            query=ChatQuery,
            response=MessageOut,
            errors=(404,),
        ),
        Endpoint(
            method="POST",
            path=f"/{version}/messages/{{id}}/report",
            handler=report_message,
            summary="Report an answer",
            response=Reported,
            errors=(400, 404),
        ),
    )


ENDPOINTS = (
    *run_endpoints.RUNS,
    *confirmation_endpoints.CONFIRMATIONS,
    *diagnostics.DIAGNOSTICS,
    Endpoint(
        method="GET",
        path="/v2/messages",
        handler=list_messages,
        summary="List a chat's messages, newest first, a hundred at most",
        query=PageQuery,
        response=list[MessageOut],
        errors=(404,),
    ),
    *_messages("v2"),
    *_messages("v1"),
    *session_endpoints.SESSIONS,
    Endpoint(
        method="POST",
        path="/v1/users/analytics/chat_message",
        handler=rate_message,
        summary="Rate an answer",
        query=RatingQuery,
        response=Ok,
        errors=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v1/users/profile",
        handler=get_profile,
        summary="Read the profile",
        response=ProfileOut,
    ),
    Endpoint(
        method="PATCH",
        path="/v1/users/profile",
        handler=change_profile,
        summary="Change the profile",
        body=ProfileBody,
        response=ProfileOut,
    ),
    Endpoint(
        method="POST",
        path="/v1/users/fcm-token",
        handler=save_fcm_token,
        summary="Register a device",
        body=FcmTokenBody,
        response=FcmTokenSaved,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/users/fcm-token",
        handler=remove_fcm_token,
        summary="Unregister a device",
        response=Ok,
        errors=(422,),
    ),
)

AFTER_TURN = (
    Endpoint(
        method="POST",
        path="/",
        handler=on_turn_ended,
        summary="A turn ended",
        access="service",
        body=bytes,
        status=204,
    ),
)
