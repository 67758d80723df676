"""CloudEvents: every event is read as it was sent, and every other body is refused."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.local.envelopes import build_envelope, encode_document_event
from shared import telemetry
from shared.adapters.embedded.sqlite_queue import Job
from shared.adapters.firestore_limits import check_fields
from shared.domain.errors import Invalid
from shared.domain.store.dead_letter import Kind
from shared.edge.declare.cloudevents import (
    MAX_EVENT_BYTES,
    DocumentChange,
    parse_dead_letter,
    parse_document_change,
    parse_pubsub_event,
)
from tests.log import capture_log

NAME = "projects/demo/databases/(default)/documents/users/alice/conversations/c1"

TIMES = st.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001  hypothesis adds the zone
    max_value=datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | TIMES
)
VALUES = st.recursive(
    SCALARS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=10,
)
TRACE = {"traceparent": f"00-{'4b' * 16}-{'00' * 7}01-01", "x-request-id": "r1"}
FIELDS = st.dictionaries(st.text(), VALUES, max_size=4)


def _build_job(kind: Kind, name: str, body: dict[str, Any]) -> Job:
    created = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    return Job(
        id=7,
        kind=kind,
        target="f",
        name=name,
        body=body,
        trace=TRACE,
        created_at=created,
        attempt=1,
        fence=1,
    )


@given(old=st.none() | FIELDS, new=FIELDS)
def test_every_change_is_read_as_it_was_written(old: Any, new: Any) -> None:
    job = _build_job("trigger", "users/alice/conversations/c1", {"old": old, "new": new})

    change = parse_document_change(*build_envelope(job, project="demo"))

    assert change == DocumentChange(path=job.name, old=old, new=new)


def envelop(headers: dict[str, str], body: bytes, **attributes: str) -> bytes:
    """Wrap a trigger's event as Pub/Sub does where an attribute fits no header."""
    sent = {name: text for name, text in headers.items() if name.startswith("ce-")}
    message = {"data": base64.b64encode(body).decode(), "attributes": {**sent, **attributes}}
    return json.dumps({"message": message, "subscription": "projects/demo/subscriptions/s"}).encode()  # fmt: skip


def test_a_change_in_an_envelope_of_pubsub_is_read_f2() -> None:
    fields = {"title": "Grüße", "at": datetime(2026, 3, 2, tzinfo=UTC)}
    job = _build_job("trigger", "users/alice/conversations/c1", {"old": None, "new": fields})
    headers, body = build_envelope(job, project="demo")

    change = parse_document_change({"content-type": "application/json"}, envelop(headers, body))

    assert change == DocumentChange(path=job.name, old=None, new=fields)


@pytest.mark.parametrize(
    "body",
    [b"{", b"{}", b'{"message": 1}', b'{"message": {"data": "!"}}', b'{"message": {"data": "e30="}}',
     envelop({}, b"", **{"ce-type": "google.cloud.storage.object.v1.finalized"})],
)  # fmt: skip
def test_an_envelope_without_a_change_is_refused_f2(body: bytes) -> None:
    with pytest.raises(Invalid):
        parse_document_change({}, body)


@given(event=st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_every_event_is_read_as_it_was_published(event: dict[str, Any]) -> None:
    headers, body = build_envelope(_build_job("event", "memory.made", event), project="demo")

    assert parse_pubsub_event(headers, body) == event
    assert parse_pubsub_event({"content-type": "application/json"}, body) == event


def test_an_event_continues_the_trace_of_its_publisher_c75() -> None:
    headers, body = build_envelope(_build_job("event", "memory.made", {}), project="demo")

    with telemetry.log_request("test", trace_headers=headers):
        parse_pubsub_event(headers, body)
        outgoing_headers = telemetry.get_trace_headers()

    assert "4b" * 16 in outgoing_headers["traceparent"]
    assert outgoing_headers["x-request-id"] == "r1"


@pytest.mark.parametrize("kind", ["task", "trigger"])
def test_a_task_and_a_trigger_carry_the_trace_in_their_headers_c75(kind: Kind) -> None:
    headers, _ = build_envelope(
        _build_job(kind, "users/a/c/d", {"old": None, "new": {}}), project="demo"
    )

    assert headers.items() >= TRACE.items()


@pytest.mark.parametrize("attributes", [None, [], {"traceparent": 7}, {"traceparent": "x"}])
def test_attributes_without_a_valid_trace_are_ignored_c75(attributes: Any) -> None:
    body = json.dumps({"message": {"data": "e30=", "attributes": attributes}}).encode()

    with telemetry.log_request("test", trace_headers=TRACE):
        assert parse_pubsub_event({}, body) == {}


def test_a_deleted_document_has_only_an_old_value() -> None:
    change = parse_document_change({}, encode_document_event(NAME, {"a": 1}, None))

    assert change == DocumentChange(path="users/alice/conversations/c1", old={"a": 1}, new=None)


def test_a_time_keeps_its_microseconds_and_is_aware() -> None:
    time = datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC)

    new = parse_document_change({}, encode_document_event(NAME, None, {"at": time})).new

    assert new == {"at": time}
    assert new["at"].tzinfo is not None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"message": 1}',
        b'{"message": {}}',
        b'{"message": {"data": "not base64!"}}',
        b'{"message": {"data": 5}}',
        b'{"message": {"data": "bm90IGpzb24="}}',
        b'{"message": {"data": "WzFd"}}',
    ],
)
def test_an_invalid_pubsub_message_is_rejected(body: bytes) -> None:
    with pytest.raises(Invalid):
        parse_pubsub_event({}, body)


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xff", b"{}", encode_document_event("elsewhere", None, {})]
)
def test_an_invalid_document_event_is_rejected(body: bytes) -> None:
    with pytest.raises(Invalid):
        parse_document_change({}, body)


def test_an_event_of_another_type_is_refused() -> None:
    headers = {"ce-type": "google.cloud.storage.object.v1.finalized"}

    with pytest.raises(Invalid):
        parse_document_change(headers, encode_document_event(NAME, None, {}))
    with pytest.raises(Invalid):
        parse_pubsub_event(headers, json.dumps({"message": {"data": "e30="}}).encode())


def test_an_event_of_two_full_size_documents_is_within_the_size_limit():
    fields = {"transcript_segments": [{"text": "a"}] * 149_000}
    assert check_fields("users/alice/conversations/c1", fields) > 1_000_000

    assert len(encode_document_event(NAME, fields, fields)) < MAX_EVENT_BYTES


IDS = {"uid": "alice", "conversation_id": "c1", "content_hash": None}
DEAD_LETTER_ATTRIBUTES = {
    "CloudPubSubDeadLetterSourceSubscription": "conversation.changed.process_conversation",
    "CloudPubSubDeadLetterSourceDeliveryCount": "10",
    "CloudPubSubDeadLetterSourceTopicPublishTime": "2026-03-02T09:00:00.123+00:00",
}


def build_dead_letter_body(**attributes: str) -> bytes:
    message = {
        "data": base64.b64encode(json.dumps(IDS).encode()).decode(),
        "attributes": {**DEAD_LETTER_ATTRIBUTES, **attributes},
        "publishTime": "2026-03-02T09:04:00Z",
    }
    return json.dumps({"message": message}).encode()


def test_a_dead_letter_is_read_as_pubsub_forwards_it_p29() -> None:
    letter = parse_dead_letter({}, build_dead_letter_body())

    assert (letter.kind, letter.name, letter.target) == (
        "event",
        "conversation.changed",
        "process_conversation",
    )
    assert (letter.ids, letter.reason, letter.attempts) == (IDS, "no success", 10)
    assert letter.first_at == datetime(2026, 3, 2, 9, 0, 0, 123_000, tzinfo=UTC)
    assert letter.last_at == datetime(2026, 3, 2, 9, 4, tzinfo=UTC)


def test_the_line_of_a_message_says_how_old_the_message_is_d7() -> None:
    with capture_log() as log, telemetry.log_request("shop"):
        parse_pubsub_event({}, build_dead_letter_body())

    assert log.lines[0]["age_ms"] > timedelta(days=1).total_seconds() * 1000


@pytest.mark.parametrize("time", ["", "soon", None, 7])
def test_a_message_without_a_time_has_no_age_d7(time: Any) -> None:
    body = json.loads(build_dead_letter_body())
    body["message"]["publishTime"] = time
    with capture_log() as log, telemetry.log_request("shop"):
        parse_pubsub_event({}, json.dumps(body).encode())

    assert "age_ms" not in log.lines[0]


def test_a_message_that_fails_repeatedly_has_one_dead_letter_p29() -> None:
    repeated_letter = parse_dead_letter(
        {}, build_dead_letter_body(CloudPubSubDeadLetterSourceDeliveryCount="11")
    )
    other_letter = parse_dead_letter(
        {},
        build_dead_letter_body(CloudPubSubDeadLetterSourceSubscription="other.record_dead_letter"),
    )

    assert (
        repeated_letter.id == parse_dead_letter({}, build_dead_letter_body()).id != other_letter.id
    )


def test_the_embedded_queue_forwards_dead_letters_as_pubsub_does_p29() -> None:
    body = {
        "kind": "task",
        "source": "notification-7.deliver_notification",
        "ids": IDS,
        "reason": "status 503",
        "attempts": 10,
        "first_at": datetime(2026, 3, 2, 9, tzinfo=UTC),
    }
    job = Job(
        id=1,
        kind="event",
        target="record_dead_letter",
        name="dead_letters",
        body=body,
        created_at=datetime(2026, 3, 2, 10, tzinfo=UTC),
        attempt=1,
        fence=1,
        trace=TRACE,
    )

    letter = parse_dead_letter(*build_envelope(job, project="demo"))

    assert (letter.kind, letter.name, letter.target) == (
        "task",
        "notification-7",
        "deliver_notification",
    )
    assert (letter.ids, letter.reason, letter.attempts) == (IDS, "status 503", 10)
    assert (letter.first_at.hour, letter.last_at.hour) == (9, 10)


@pytest.mark.parametrize(
    "attributes",
    [
        {"CloudPubSubDeadLetterSourceDeliveryCount": "many"},
        {"CloudPubSubDeadLetterSourceTopicPublishTime": "soon"},
    ],
)
def test_an_invalid_dead_letter_is_rejected(attributes: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        parse_dead_letter({}, build_dead_letter_body(**attributes))
    with pytest.raises(Invalid):
        parse_dead_letter({}, json.dumps({"message": {"data": "e30="}}).encode())
