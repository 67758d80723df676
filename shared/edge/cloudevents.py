"""What arrives at internal entry points: events of Pub/Sub and of Firestore, as Eventarc sends them."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from shared import telemetry
from shared.domain.dead_letter import DeadLetter, ids_of, letter_id
from shared.domain.documents import Fields
from shared.domain.errors import Invalid
from shared.domain.value import value

PUBLISHED = "google.cloud.pubsub.topic.v1.messagePublished"
WRITTEN = "google.cloud.firestore.document.v1.written"
DEAD = "CloudPubSubDeadLetterSource"
"""How the attributes begin by which Pub/Sub says where a dead letter comes from."""

MAX_EVENT_BYTES = 8_388_608
"""Room for a document of 1 MiB before and after its change; as protobuf it may be 3 MiB."""


@value
class DocumentChange:
    """A document before and after a write; None where there was none."""

    path: str
    old: Fields | None
    new: Fields | None


def pubsub_event(headers: Mapping[str, str], body: bytes) -> Mapping[str, Any]:
    """Return what was published, from a CloudEvent of Eventarc or a bare Pub/Sub push.

    The request goes on in the trace of who published. Raises Invalid for anything else.
    """
    return _data(_message(headers, body))


def dead_letter(headers: Mapping[str, str], body: bytes) -> DeadLetter:
    """Return what Pub/Sub gave up, as it forwards it. Raises Invalid for anything else.

    Pub/Sub tells how often it tried, not why that failed. Its subscriptions are called
    `<topic>.<function>`.
    """
    message = _message(headers, body)
    told = message.get("attributes") or {}
    try:
        name, _, target = told[f"{DEAD}Subscription"].rpartition(".")
        kind, ids = told.get("kind", "event"), ids_of(_data(message))
        return DeadLetter(
            id=letter_id(kind, name, target, ids),
            kind=kind,
            name=name,
            target=target,
            ids=ids,
            reason=told.get("reason", "no success"),
            attempts=int(told[f"{DEAD}DeliveryCount"]),
            first_at=datetime.fromisoformat(told[f"{DEAD}TopicPublishTime"]),
            last_at=datetime.fromisoformat(message["publishTime"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Invalid("The Pub/Sub message is not a dead letter") from error


def _message(headers: Mapping[str, str], body: bytes) -> Mapping[str, Any]:
    _expect(headers, PUBLISHED)
    try:
        message = json.loads(body)["message"]
    except (ValueError, LookupError, TypeError) as error:
        raise Invalid("The body is not a Pub/Sub message") from error
    if not isinstance(message, dict):
        raise Invalid("The body is not a Pub/Sub message")
    _join(message.get("attributes"))
    return message


def _join(attributes: Any) -> None:
    if isinstance(attributes, dict):
        telemetry.join({name: str(text) for name, text in attributes.items()})


def _data(message: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        event = json.loads(base64.b64decode(message["data"], validate=True))
    except (ValueError, LookupError, TypeError) as error:
        raise Invalid("The body is not a Pub/Sub message") from error
    if not isinstance(event, dict):
        raise Invalid("The Pub/Sub message is not a JSON object")
    return event


def document_change(headers: Mapping[str, str], body: bytes) -> DocumentChange:
    """Return what a Firestore trigger tells of a write. Raises Invalid for anything else."""
    _expect(headers, WRITTEN)
    from google.events.cloud.firestore import DocumentEventData
    from google.protobuf.message import DecodeError

    data = DocumentEventData.pb()()
    try:
        data.ParseFromString(body)
    except DecodeError as error:
        raise Invalid("The body is not a document event") from error
    old = data.old_value if data.HasField("old_value") else None
    new = data.value if data.HasField("value") else None
    return DocumentChange(path=_path(new or old), old=_fields(old), new=_fields(new))


def _expect(headers: Mapping[str, str], kind: str) -> None:
    if headers.get("ce-type", kind) != kind:
        raise Invalid(f"The event's type is not {kind}")


def _path(document: Any) -> str:
    """Cut `projects/p/databases/d/documents/` off a document's full name."""
    _, found, path = (document.name if document else "").partition("/documents/")
    if not found or not path:
        raise Invalid("The event names no document")
    return str(path)


def _fields(document: Any) -> Fields | None:
    if document is None:
        return None
    return {name: _plain(value) for name, value in document.fields.items()}


def _plain(value: Any) -> Any:
    """Return a protobuf value in Python: a time is aware, a reference its name, a point a map."""
    match value.WhichOneof("value_type"):
        case None | "null_value":
            return None
        case "timestamp_value":
            return value.timestamp_value.ToDatetime(tzinfo=UTC)
        case "map_value":
            return {name: _plain(item) for name, item in value.map_value.fields.items()}
        case "array_value":
            return [_plain(item) for item in value.array_value.values]
        case "geo_point_value":
            point = value.geo_point_value
            return {"latitude": point.latitude, "longitude": point.longitude}
        case kind:
            return getattr(value, kind)
