"""Values as JSON text, and documents that are decoded when somebody looks."""

from datetime import UTC, datetime

from shared.adapters.document_json import dumps, loads, loads_later

FIELDS = {"at": datetime(2026, 3, 1, tzinfo=UTC), "segments": [{"text": "hello"}], "hash": b"1"}


def test_lazily_decoded_fields_can_be_nested_in_another_value() -> None:
    json_fields = loads_later(dumps(FIELDS))

    assert loads(dumps({"old": None, "new": json_fields})) == {"old": None, "new": FIELDS}
    assert json_fields == FIELDS
