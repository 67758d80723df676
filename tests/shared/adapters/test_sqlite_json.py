"""Values as JSON text, and documents that are decoded when somebody looks."""

from datetime import UTC, datetime

from shared.adapters.sqlite_json import JsonFields, dumps, loads

FIELDS = {"at": datetime(2026, 3, 1, tzinfo=UTC), "segments": [{"text": "hello"}], "hash": b"1"}


def test_a_document_as_it_was_read_is_written_as_it_stands_within_another_value() -> None:
    read = JsonFields(dumps(FIELDS))

    assert loads(dumps({"old": None, "new": read})) == {"old": None, "new": FIELDS}
    assert read == FIELDS
