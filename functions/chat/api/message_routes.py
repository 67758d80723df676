"""The chat's route table and its handlers: parse, one call, answer."""

from dataclasses import asdict
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.responses import Response

from functions.chat.api import confirmation_routes, diagnostics_routes, run_routes, session_routes
from functions.chat.api.schemas import (
    ChatQuery,
    FcmTokenIn,
    FcmTokenOut,
    MessageOut,
    MessagesQuery,
    OkOut,
    ProfileIn,
    ProfileOut,
    RatingQuery,
    ReportOut,
    TurnEndedIn,
    to_message_out,
)
from functions.chat.deps import AfterTurnDeps, ChatDeps
from functions.chat.turn import chat_messages
from functions.chat.turn.after_turn import after_turn
from shared.domain.errors import Invalid
from shared.domain.ids import MessageId, SessionId, UserId, is_id
from shared.domain.profile import Device
from shared.edge.cloudevents import parse_pubsub_event
from shared.edge.http import Call, Endpoint
from shared.edge.problems import build_problem


async def list_messages(deps: ChatDeps, call: Call[None]) -> list[MessageOut]:
    query: MessagesQuery = call.query
    if query.before is not None:
        before_id = MessageId(query.before)
        messages = await chat_messages.list_before(deps, call.uid, query.session_id, before_id)
    else:
        messages = await chat_messages.list_newest(deps, call.uid, query.app, query.session)
    return [to_message_out(message) for message in messages]


async def clear_messages(deps: ChatDeps, call: Call[None]) -> MessageOut:
    return to_message_out(
        await chat_messages.clear(deps, call.uid, call.query.app, call.query.session)
    )


async def ensure_initial_message(deps: ChatDeps, call: Call[None]) -> MessageOut:
    return to_message_out(
        await chat_messages.ensure_greeting(deps, call.uid, call.query.app, call.query.session)
    )


async def report_message(deps: ChatDeps, call: Call[None]) -> ReportOut | Response:
    try:
        await chat_messages.report(deps, call.uid, MessageId(call.path["id"]))
    except Invalid as refusal:
        return build_problem(400, str(refusal))
    return ReportOut()


async def rate_message(deps: ChatDeps, call: Call[None]) -> OkOut:
    query: RatingQuery = call.query
    await chat_messages.rate(deps, call.uid, MessageId(query.message_id), query.value, query.reason)
    return OkOut()


async def get_profile(deps: ChatDeps, call: Call[None]) -> ProfileOut:
    return ProfileOut.model_validate(asdict(await deps.stores.profiles.get(call.uid)))


async def change_profile(deps: ChatDeps, call: Call[ProfileIn]) -> ProfileOut:
    changes: dict[str, Any] = call.body.model_dump(exclude_none=True)
    if "time_zone" in changes:
        _check_time_zone(changes["time_zone"])
    profile = await deps.stores.profiles.change(call.uid, **changes)
    return ProfileOut.model_validate(asdict(profile))


async def save_fcm_token(deps: ChatDeps, call: Call[FcmTokenIn]) -> FcmTokenOut:
    zone = call.body.time_zone
    _check_time_zone(zone)
    device = Device(
        id=_parse_device_id(call.headers),
        fcm_token=call.body.fcm_token,
        time_zone=zone,
        updated_at=deps.clock.now(),
    )
    await deps.stores.devices.save(call.uid, device)
    await deps.stores.profiles.change(call.uid, time_zone=zone)
    return FcmTokenOut()


async def remove_fcm_token(deps: ChatDeps, call: Call[None]) -> OkOut:
    await deps.stores.devices.remove(call.uid, _parse_device_id(call.headers))
    return OkOut()


async def on_turn_ended(deps: AfterTurnDeps, call: Call[bytes]) -> None:
    try:
        event = TurnEndedIn.model_validate(parse_pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a turn") from error
    await after_turn(deps, UserId(event.uid), SessionId(event.session_id))


def _check_time_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(f"time_zone: {name!r} is no IANA zone such as Europe/Berlin") from error


def _parse_device_id(headers: Headers) -> str:
    """Name the device as the app describes itself, with the old product's defaults."""
    platform = headers.get("x-app-platform", "unknown")
    device_hash = headers.get("x-device-id-hash", "default")
    device_id = f"{platform}_{device_hash}"
    if not is_id(device_id):
        raise Invalid("X-App-Platform and X-Device-Id-Hash: at most 63 of A-Z a-z 0-9 _ - together")
    return device_id


def _build_message_endpoints(version: str) -> tuple[Endpoint, ...]:
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
            handler=ensure_initial_message,
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
            response=ReportOut,
            errors=(400, 404),
        ),
    )


ENDPOINTS = (
    *run_routes.RUNS,
    *confirmation_routes.CONFIRMATIONS,
    *diagnostics_routes.DIAGNOSTICS,
    Endpoint(
        method="GET",
        path="/v2/messages",
        handler=list_messages,
        summary="List a chat's messages, newest first, a hundred at most",
        query=MessagesQuery,
        response=list[MessageOut],
        errors=(404,),
    ),
    *_build_message_endpoints("v2"),
    *_build_message_endpoints("v1"),
    *session_routes.SESSIONS,
    Endpoint(
        method="POST",
        path="/v1/users/analytics/chat_message",
        handler=rate_message,
        summary="Rate an answer",
        query=RatingQuery,
        response=OkOut,
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
        body=ProfileIn,
        response=ProfileOut,
    ),
    Endpoint(
        method="POST",
        path="/v1/users/fcm-token",
        handler=save_fcm_token,
        summary="Register a device",
        body=FcmTokenIn,
        response=FcmTokenOut,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/users/fcm-token",
        handler=remove_fcm_token,
        summary="Unregister a device",
        response=OkOut,
        errors=(422,),
    ),
)

AFTER_TURN_ENDPOINTS = (
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
