"""CloudEvents: events of Pub/Sub and Firestore, as Eventarc posts them to internal entry points.

Every parser raises Invalid for a body that is not its event.

Also called: event handler.
"""

import base64
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from shared import telemetry
from shared.domain.errors import Invalid
from shared.domain.store.dead_letter import DeadLetter, build_dead_letter_id, extract_ids
from shared.domain.store.documents import Fields
from shared.domain.value import value

PUBLISHED_TYPE = "google.cloud.pubsub.topic.v1.messagePublished"
WRITTEN_TYPE = "google.cloud.firestore.document.v1.written"
DEAD_LETTER_PREFIX = "CloudPubSubDeadLetterSource"
"""Prefix of the attributes in which Pub/Sub names the origin of a dead letter."""

MAX_EVENT_BYTES = 8_388_608
"""Room for a document of 1 MiB before and after its change, each up to 3 MiB as protobuf."""


@value
class DocumentChange:
    """A document before and after a write; None where it did not exist."""

    path: str
    old: Fields | None
    new: Fields | None


def parse_pubsub_event(headers: Mapping[str, str], body: bytes) -> Mapping[str, Any]:
    """Return the published JSON object, from a CloudEvent or a plain Pub/Sub push.

    The request continues the trace of the publisher.
    """
    return _parse_data(_parse_message(headers, body))


def parse_dead_letter(headers: Mapping[str, str], body: bytes) -> DeadLetter:
    """Return the message that Pub/Sub forwards after its last attempt.

    Pub/Sub reports how often it tried, not why that failed. Its subscriptions are called
    `<topic>.<function>`.
    """
    message = _parse_message(headers, body)
    attributes = message.get("attributes") or {}
    try:
        name, _, target = attributes[f"{DEAD_LETTER_PREFIX}Subscription"].rpartition(".")
        kind, ids = attributes.get("kind", "event"), extract_ids(_parse_data(message))
        return DeadLetter(
            id=build_dead_letter_id(kind, name, target, ids),
            kind=kind,
            name=name,
            target=target,
            ids=ids,
            reason=attributes.get("reason", "no success"),
            attempts=int(attributes[f"{DEAD_LETTER_PREFIX}DeliveryCount"]),
            first_at=datetime.fromisoformat(attributes[f"{DEAD_LETTER_PREFIX}TopicPublishTime"]),
            last_at=datetime.fromisoformat(message["publishTime"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Invalid("The Pub/Sub message is not a dead letter") from error


def _parse_message(headers: Mapping[str, str], body: bytes) -> Mapping[str, Any]:
    _check_type(headers, PUBLISHED_TYPE)
    try:
        message = json.loads(body)["message"]
    except (ValueError, LookupError, TypeError) as error:
        raise Invalid("The body is not a Pub/Sub message") from error
    if not isinstance(message, dict):
        raise Invalid("The body is not a Pub/Sub message")
    _continue_trace(message.get("attributes"))
    with suppress(ValueError, LookupError, TypeError):
        telemetry.record_cause(datetime.fromisoformat(message["publishTime"]))
    return message


def _continue_trace(attributes: Any) -> None:
    if isinstance(attributes, dict):
        telemetry.continue_trace({name: str(text) for name, text in attributes.items()})


def _parse_data(message: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        event = json.loads(base64.b64decode(message["data"], validate=True))
    except (ValueError, LookupError, TypeError) as error:
        raise Invalid("The body is not a Pub/Sub message") from error
    if not isinstance(event, dict):
        raise Invalid("The Pub/Sub message is not a JSON object")
    return event


def parse_document_change(headers: Mapping[str, str], body: bytes) -> DocumentChange:
    """Return the write that a Firestore trigger reports, be it in an envelope of Pub/Sub.

    Eventarc sends one where an attribute fits no header; no event begins with its brace.
    """
    if body.startswith(b"{"):
        headers, body = _open_envelope(body)
    _check_type(headers, WRITTEN_TYPE)
    from google.events.cloud.firestore import DocumentEventData
    from google.protobuf.message import DecodeError

    data = DocumentEventData.pb()()
    try:
        data.ParseFromString(body)
    except DecodeError as error:
        raise Invalid("The body is not a document event") from error
    old = data.old_value if data.HasField("old_value") else None
    new = data.value if data.HasField("value") else None
    return DocumentChange(
        path=_parse_document_path(new or old), old=_to_fields(old), new=_to_fields(new)
    )


def _open_envelope(body: bytes) -> tuple[Mapping[str, str], bytes]:
    try:
        message = json.loads(body)["message"]
        return message.get("attributes") or {}, base64.b64decode(message["data"], validate=True)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Invalid("The body is not a document event") from error


def _check_type(headers: Mapping[str, str], kind: str) -> None:
    if headers.get("ce-type", kind) != kind:
        raise Invalid(f"The event's type is not {kind}")


def _parse_document_path(document: Any) -> str:
    """Cut `projects/p/databases/d/documents/` off a document's full name."""
    _, separator, path = (document.name if document else "").partition("/documents/")
    if not separator or not path:
        raise Invalid("The event names no document")
    return str(path)


def _to_fields(document: Any) -> Fields | None:
    if document is None:
        return None
    return {name: _to_python(value) for name, value in document.fields.items()}


def _to_python(value: Any) -> Any:
    """Return a protobuf value in Python: a time is aware, a reference its name, a point a map."""
    match value.WhichOneof("value_type"):
        case None | "null_value":
            return None
        case "timestamp_value":
            return value.timestamp_value.ToDatetime(tzinfo=UTC)
        case "map_value":
            return {name: _to_python(item) for name, item in value.map_value.fields.items()}
        case "array_value":
            return [_to_python(item) for item in value.array_value.values]
        case "geo_point_value":
            point = value.geo_point_value
            return {"latitude": point.latitude, "longitude": point.longitude}
        case kind:
            return getattr(value, kind)
