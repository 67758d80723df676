"""Redeliveries: messages of the embedded queue that come late, and again after they were handled.

The database does it by itself, whichever process sends or handles a message.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

_FAULTS = """
CREATE TABLE soak_faults (kind TEXT NOT NULL);
CREATE TRIGGER soak_late AFTER INSERT ON jobs WHEN NEW.kind <> 'task' AND NEW.id % 5 = 0 BEGIN
    UPDATE jobs SET due = due + NEW.id % 9 WHERE id = NEW.id;
    INSERT INTO soak_faults VALUES ('late');
END;
CREATE TRIGGER soak_repeat AFTER DELETE ON jobs WHEN OLD.kind <> 'task' AND OLD.id % 4 = 0 BEGIN
    INSERT INTO jobs (kind, target, name, body, trace, created, due)
    VALUES (OLD.kind, OLD.target, OLD.name, OLD.body, OLD.trace, OLD.created, OLD.due + OLD.id % 7 - 30);
    INSERT INTO soak_faults VALUES ('repeat');
END;
CREATE TRIGGER soak_repeat_task AFTER UPDATE OF ended ON jobs
WHEN NEW.ended IS NOT NULL AND NEW.kind = 'task' AND NEW.attempt = 1 AND NEW.id % 2 = 0 BEGIN
    UPDATE jobs SET ended = NULL, body = OLD.body, due = NEW.ended + NEW.id % 7 WHERE id = NEW.id;
    INSERT INTO soak_faults VALUES ('repeat');
END
"""
"""What is due when it ends was claimed for 30 s, so that a repeat comes 0 to 6 s after the claim."""


def add_redeliveries(database: Path) -> None:
    """Let one message in five come late, and one in four again."""
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(_FAULTS)


def count_redeliveries(database: Path, kind: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        sql = "SELECT count(*) FROM soak_faults WHERE kind = ?"
        return int(connection.execute(sql, (kind,)).fetchone()[0])


def count_waiting(database: Path) -> int:
    """Count the events and triggers that are not handled yet."""
    with closing(sqlite3.connect(database)) as connection:
        sql = "SELECT count(*) FROM jobs WHERE ended IS NULL AND kind <> 'task'"
        return int(connection.execute(sql).fetchone()[0])
