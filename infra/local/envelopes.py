"""Envelopes: the embedded world's jobs as the cloud would post them, in the same bytes."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.adapters.embedded.sqlite_queue import DEAD_LETTERS_TOPIC, Job
from shared.domain.store.documents import Fields
from shared.edge.declare.cloudevents import DEAD_LETTER_PREFIX, PUBLISHED_TYPE, WRITTEN_TYPE

Envelope = tuple[dict[str, str], bytes]

_SCALARS = {
    bool: "boolean_value",
    int: "integer_value",
    float: "double_value",
    str: "string_value",
    bytes: "bytes_value",
}


def build_envelope(job: Job, *, project: str) -> Envelope:
    """Return headers and body of a job's delivery."""
    match job.kind:
        case "event":
            return _build_push(job, project)
        case "task":
            return _build_task(job)
        case "trigger":
            return _build_trigger(job, project)


def _build_push(job: Job, project: str) -> Envelope:
    event, attributes = (
        _build_forwarded_letter(job.body) if job.name == DEAD_LETTERS_TOPIC else (job.body, {})
    )
    message = {
        "data": base64.b64encode(json.dumps(dict(event)).encode()).decode(),
        "attributes": {**attributes, **job.trace},
        "messageId": str(job.id),
        "publishTime": job.created_at.isoformat(),
    }
    subscription = f"projects/{project}/subscriptions/{job.target}"
    body = json.dumps({"message": message, "subscription": subscription}).encode()
    source = f"//pubsub.googleapis.com/projects/{project}/topics/{job.name}"
    return _build_cloudevent_headers(job, PUBLISHED_TYPE, source) | {
        "content-type": "application/json"
    }, body


def _build_forwarded_letter(
    letter: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Return a dead letter as Pub/Sub forwards it, and the reason, which only we know."""
    return letter["ids"], {
        f"{DEAD_LETTER_PREFIX}Subscription": letter["source"],
        f"{DEAD_LETTER_PREFIX}DeliveryCount": str(letter["attempts"]),
        f"{DEAD_LETTER_PREFIX}TopicPublishTime": letter["first_at"].isoformat(),
        "kind": letter["kind"],
        "reason": letter["reason"],
    }


def _build_task(job: Job) -> Envelope:
    headers = {
        "content-type": "application/json",
        "x-cloudtasks-queuename": job.target,
        "x-cloudtasks-taskname": job.name,
        "x-cloudtasks-taskretrycount": str(job.attempt - 1),
        **job.trace,
    }
    return headers, json.dumps(dict(job.body)).encode()


def _build_trigger(job: Job, project: str) -> Envelope:
    source = f"//firestore.googleapis.com/projects/{project}/databases/(default)"
    headers = (
        _build_cloudevent_headers(job, WRITTEN_TYPE, source)
        | dict(job.trace)
        | {
            "content-type": "application/protobuf",
            "ce-subject": f"documents/{job.name}",
            "ce-document": job.name,
            "ce-database": "(default)",
            "ce-namespace": "(default)",
            "ce-project": project,
        }
    )
    root = f"projects/{project}/databases/(default)/documents"
    return headers, encode_document_event(f"{root}/{job.name}", job.body["old"], job.body["new"])


def _build_cloudevent_headers(job: Job, kind: str, source: str) -> dict[str, str]:
    return {
        "ce-specversion": "1.0",
        "ce-id": str(job.id),
        "ce-type": kind,
        "ce-source": source,
        "ce-time": job.created_at.isoformat(),
    }


def encode_document_event(name: str, old: Fields | None, new: Fields | None) -> bytes:
    """Encode a document's change as a Firestore trigger carries it."""
    from google.events.cloud.firestore import DocumentEventData

    data = DocumentEventData.pb()()
    for document, fields in ((data.old_value, old), (data.value, new)):
        if fields is not None:
            document.name = name
            _fill(document.fields, fields)
    encoded: bytes = data.SerializeToString()
    return encoded


def _fill(target: Any, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        _encode(target[name], value)


def _encode(target: Any, value: Any) -> None:
    if value is None:
        target.null_value = 0
    elif type(value) in _SCALARS:
        setattr(target, _SCALARS[type(value)], value)
    elif isinstance(value, datetime):
        target.timestamp_value.FromDatetime(value)
    elif isinstance(value, Mapping):
        target.map_value.SetInParent()
        _fill(target.map_value.fields, value)
    else:
        _encode_list(target, value)


def _encode_list(target: Any, values: Any) -> None:
    target.array_value.SetInParent()
    for value in values:
        _encode(target.array_value.values.add(), value)
