"""Report of an import on the command line: a progress bar, and what became of the files."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

BAR_CHARS = 30
MAX_SPEAKERS = 8
NOUNS = {
    "memories": ("memory", "memories"),
    "action_items": ("task", "tasks"),
    "people": ("person", "people"),
    "settings": ("setting", "settings"),
    "folders": ("folder", "folders"),
    "goal": ("goal", "goals"),
    "daily_summary": ("daily summary", "daily summaries"),
    "chat_session": ("chat", "chats"),
    "agent": ("agent", "agents"),
    "message": ("message", "messages"),
    "alternative": ("answer of another model", "answers of other models"),
    "health": ("set of health figures", "sets of health figures"),
}
"""What the server counts beside conversations, in words for one and for several."""


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What is known of an import so far; draws itself on a terminal."""

    file_count: int
    hidden: int = 0
    done_files: int = 0
    kept_files: int = 0
    conversations: int = 0
    known: int = 0
    undated: int = 0
    ids: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    waits_for: str = ""
    speakers: Counter[str] = field(default_factory=Counter)
    is_owner_known: bool = False
    records: Counter[str] = field(default_factory=Counter)
    not_taken: dict[str, str] = field(default_factory=dict)

    def add(self, imported: Mapping[str, Any]) -> None:
        """Take in what the server says of one import."""
        for file in imported["files"]:
            self._add_file(file)
        self.speakers.update({each["name"]: each["segments"] for each in imported["speakers"]})
        self.is_owner_known |= not imported["asks_for_me"] and bool(imported["speakers"])

    def _add_file(self, file: Mapping[str, Any]) -> None:
        if file["status"] == "refused":
            return self.failures.append(f"{file['name']}: {file['reason']}")
        if file["status"] == "question" and not file["is_kept_as_text"]:
            return self.questions.append(file["name"])
        self.kept_files += 1
        self.records.update({name: file[name] for name in ("memories", "action_items", "people")})
        self.records.update(file["records"])
        self.not_taken |= {each["name"]: each["reason"] for each in file["not_taken"]}
        self.conversations += file["conversation_count"]
        self.known += sum(each["is_known"] for each in file["conversations"])
        self.undated += sum(not each["is_dated"] for each in file["conversations"])
        self.ids |= {each["id"] for each in file["conversations"]}
        for left in file["left_out"]:
            line = f"{file['name']}: {left['title'] or 'a conversation'}: {left['reason']}"
            (self.unread if left["words"] else self.failures).append(line)
        return None

    def finish_files(self, count: int) -> None:
        self.done_files += count
        if sys.stderr.isatty():
            filled = BAR_CHARS * self.done_files // max(self.file_count, 1)
            bar = "█" * filled + "·" * (BAR_CHARS - filled)
            print(
                f"\r{bar} {self.done_files}/{self.file_count}", end="", file=sys.stderr, flush=True
            )

    def show_count(self, count: int, waits_for: str) -> None:
        """Show how much of a wearable's was read so far, on a terminal."""
        if sys.stderr.isatty() and not self.file_count:
            line = f"{_count(count, 'conversation')} read{f', {waits_for}' if waits_for else ''}"
            print(f"\r{line:60}", end="", file=sys.stderr, flush=True)

    def print_summary(self) -> None:
        if sys.stderr.isatty():
            print(file=sys.stderr)
        for line in self.failures:
            print(f"keepsake: not imported: {line}", file=sys.stderr)
        for line in self.unread:
            print(f"keepsake: left out: {line}", file=sys.stderr)
        for name in self.questions:
            print(f"keepsake: text in no known form: {name}", file=sys.stderr)
        if self.kept_files or not self.failures:  # else the lines above say all
            print(f"keepsake: {self._describe()}", flush=True)
        for line in self._list_hints():
            print(f"keepsake: {line}", flush=True)

    def _describe(self) -> str:
        kept = _count(self.conversations, "conversation")
        known = f" ({self.known} of them were there already)" if self.known else ""
        left = [
            *([_count(len(self.failures), "failure")] if self.failures else []),
            *([f"{_count(len(self.unread), 'text')} not read"] if self.unread else []),
        ]
        others = [_count_records(kind, count) for kind, count in self.records.items() if count]
        kept = ", ".join([kept, *others])
        ending = ", ".join(left) or "nothing left out"
        return f"{kept} from {_count(self.kept_files, 'file')}{known}, {ending}"

    def _list_hints(self) -> list[str]:
        hints = [f"not brought back: {name}: {reason}" for name, reason in self.not_taken.items()]
        if self.hidden:
            hints.append(f"{_count(self.hidden, 'hidden file')} passed over")
        if self.questions:
            hints.append("to keep text in no known form as plain text, add ARGS=--text")
        if self.undated:
            named = _count(self.undated, "conversation")
            hints.append(f"{named} without a date: dated as the file was last changed")
        if self.waits_for:
            hints.append(f"the rest waits and goes on by itself: {self.waits_for}")
        if self.speakers and not self.is_owner_known:
            names = [f"{name} ({count})" for name, count in self.speakers.most_common(MAX_SPEAKERS)]
            hints.append(
                f"which of them are you? {', '.join(names)}. Run it again with "
                f'ME="{self.speakers.most_common(1)[0][0]}", or say it in the settings'
            )
        return hints

    def print_processing(self, failed_ids: Sequence[str], duration_s: float) -> None:
        for name in failed_ids:
            print(f"keepsake: processing failed: {name}", file=sys.stderr)
        count = len(self.ids)
        print(
            f"keepsake: {count - len(failed_ids)} completed, {len(failed_ids)} failed in "
            f"{duration_s:.1f} s, {count / duration_s:.0f} a second"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _count_records(kind: str, count: int) -> str:
    one, several = NOUNS.get(kind, (kind, kind))
    return f"{count} {one if count == 1 else several}"
