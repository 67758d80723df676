"""Layouts: the forms in which programs write who said what and when, line by line.

A file's layout is the one that explains most of its lines. None of them knows words of a language.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Literal

from functions.imports.formats.stamps import CHAT_CLOCK, CLOCK, DATE, WORD, parse_clock
from shared.domain.value import value

_NAME = r"(?P<name>(?:[^\W\d_]|\+\d)[^:\n]{0,79}?)"
_PICTURE = "[\u2600-\u260f\u2613-\u2712\u2719-\u27bf\U0001f000-\U0001faff]"
"""Emoji, with which names may begin; boxes and ticks are those of a list of tasks."""
_CLOCK = rf"(?P<clock>{CLOCK})"
_NO_YEAR = r"(?!.{0,80}(?:19|20)\d\d)"
_CLOCK2 = rf"(?P<clock2>{CLOCK})"
_DASH = r"\s*(?:[-–—|]\s*)?"
_BRACKETED = rf"[\[(]?{_CLOCK}[\])]?"

Kind = Literal["chat", "line", "heading"]


@value
class Header:
    """The beginning of a turn; `words` is what follows on the same line."""

    name: str
    clock: str = ""
    date: str = ""
    words: str = ""
    start_ms: str = ""
    end_ms: str = ""


@value
class Layout:
    """A form of turns.

    `chat`: each header has a day and a time, and without a name it is a notice. `line`: name and words
    stand on one line. `heading`: a line with the name, then the words, as in chats whose pattern has no `words`.
    """

    kind: Kind
    pattern: re.Pattern[str]

    def match(self, line: str) -> Header | None:
        match = self.pattern.fullmatch(line)
        if match is None:
            return None
        groups = {name: text.strip() for name, text in match.groupdict().items() if text}
        clock = groups.pop("clock2", "") or groups.pop("clock", "")
        name = groups.pop("label", "") or groups.pop("name", "")
        return Header(**{**groups, "name": name, "clock": clock})


_DAY = rf"(?P<date>{DATE})(?:\s{WORD},)?[,،]?\s+"
_CHAT_CLOCK = rf"(?P<clock>{CHAT_CLOCK})"
_SENDER_WORDS = (
    r"(?:<\s?(?P<label>[^<>:\n]{1,80})>\s+(?=\S)|(?P<name>[^:\n]{1,80}?):(?:\s+|$))?(?P<words>.*)"
)
BRACKET_CHAT = Layout(
    kind="chat",
    pattern=re.compile(rf"\u200e?\[{_DAY}{_CHAT_CLOCK}\]\s*(?:-\s+)?{_SENDER_WORDS}"),
)
DASH_CHAT = Layout(
    kind="chat", pattern=re.compile(rf"\u200e?{_DAY}{_CHAT_CLOCK},?\s*[-–]\s+{_SENDER_WORDS}")
)
NAMED_CHAT = Layout(
    kind="chat",
    pattern=re.compile(rf"(?:[-*]\s+)?{_NAME}\s+\({_DAY}{_CLOCK}\):\s+(?P<words>.*)"),
)
BARE_CHAT = Layout(kind="chat", pattern=re.compile(rf"\u200e?{_DAY}{_CLOCK},?\s*{_SENDER_WORDS}"))
NAME_STAMP = Layout(kind="chat", pattern=re.compile(rf"{_NAME}\s+(?P<date>{DATE})\s+{_CHAT_CLOCK}"))
STAMP_NAME = Layout(
    kind="chat", pattern=re.compile(rf"(?P<date>{DATE})\s+(?P<clock>{CLOCK})\s+{_NAME}")
)
LINKED = Layout(
    kind="line",
    pattern=re.compile(
        r"(?:>\s*)?\[(?P<name>[^\]\n]{1,80})\]\(#startMs=(?P<start_ms>\d{1,15})"
        r"&endMs=(?P<end_ms>\d{1,15})\):\s*(?P<words>.*)"
    ),
)
TIME_NAME_WORDS = Layout(
    kind="line", pattern=re.compile(rf"{_BRACKETED}{_DASH}{_NAME}\s*:\s+(?P<words>\S.*)")
)
NAME_TIME_WORDS = Layout(
    kind="line",
    pattern=re.compile(rf"{_NAME}(?:\s*[\[(]{_CLOCK}[\])]|\s+{_CLOCK2})\s*:\s+(?P<words>\S.*)"),
)
NAME_COLON_TIME = Layout(
    kind="line", pattern=re.compile(rf"{_NAME}\s*:\s*[\[(]{_CLOCK}[\])]\s*(?P<words>\S.*)")
)
COLUMNS = Layout(
    kind="line",
    pattern=re.compile(
        rf"{_CLOCK}\t+(?:(?P<name>(?:[^\W\d_]|\+\d|{_PICTURE})[^:\t\n]{{0,79}})\t)?(?P<words>[^\t\n].*)"
    ),
)
"""Without a column of names it is a notice."""
BRACKETED_NAME_TIME = Layout(
    kind="line",
    pattern=re.compile(rf"\[(?P<label>[^\[\]\n]{{1,80}})\]\s+\[{_CLOCK}\]\s+(?P<words>.*)"),
)
FROM_TO = Layout(
    kind="line",
    pattern=re.compile(
        rf"{_CLOCK}\s+[Ff]rom\s+{_NAME}(?:\s+to\s+[^:\n]{{1,80}})?\s*:(?P<words>.*)"
    ),
)
NAME_TIME = Layout(
    kind="heading",
    pattern=re.compile(rf"{_NO_YEAR}\[?{_NAME}\]?(?:\s*[-–—|·]\s*|\s+){_BRACKETED}:?"),
)
TIME_DASH_NAME = Layout(
    kind="heading",
    pattern=re.compile(rf"{_BRACKETED}\s*[-–—|]\s*{_NAME}(?:\s+\([^()\n]{{1,80}}\))?:?"),
)
TIME_NAME = Layout(kind="heading", pattern=re.compile(rf"{_BRACKETED}\s+\[?{_NAME}\]?:?"))
NAME_WORDS = Layout(
    kind="line",
    pattern=re.compile(
        rf"(?:\[(?P<label>[^\W\d_][^\[\]:\n]{{0,79}})\]|(?P<name>(?:[^\W\d_]|\+\d|{_PICTURE})"
        r"[^:：\n\t\"?!;/\\<>=\[\]{}|]{0,63}?))\s*(?::\s+|：\s*)(?P<words>\S.*)"
    ),
)
LAYOUTS = (
    LINKED, NAMED_CHAT, BRACKET_CHAT, DASH_CHAT, BARE_CHAT, NAME_STAMP, STAMP_NAME, COLUMNS,
    BRACKETED_NAME_TIME, FROM_TO, NAME_TIME_WORDS, NAME_COLON_TIME, TIME_NAME_WORDS, TIME_DASH_NAME,
    NAME_TIME, TIME_NAME,
)  # fmt: skip
"""The layouts with times, the more specific first."""
STAMPED = re.compile(rf"[\[(]?\s?{DATE}[,،]?\s+{_CHAT_CLOCK}(?!\w).*")
"""A line that begins with a day and a time."""
DAY_LAYOUTS = (COLUMNS, BRACKETED_NAME_TIME)
"""The layouts with times of day where a line above tells the day."""
DAY_LINE = re.compile(
    r"\D{0,40}?(?P<weekday>[^\W\d_]*)[^\w\n]{0,3}"
    r"(?P<date>\d{1,4}\D{1,3}\d{1,2}\D{1,3}\d{1,4})\D{0,40}"
)
CLOCK_LINE = re.compile(rf"(?:#{{1,6}}\s+)?{_BRACKETED}(?:\s+\{{#[^{{}}\n]{{1,40}}\}})?")
"""A line with nothing but a time: it holds for the turns below."""
TIME_ONLY = Layout(kind="heading", pattern=CLOCK_LINE)
TIME_WORDS = Layout(
    kind="line",
    pattern=re.compile(
        rf"(?:\[{_CLOCK}(?:\s*-->\s*{CLOCK})?\]|(?P<clock2>\d{{1,2}}:\d\d:\d\d(?:[.,]\d{{1,3}})?))"
        r"\s+(?P<words>\S.*)"
    ),
)
"""Words behind a time in brackets or with seconds; a plan of a day has neither."""
_NAME_LINE = re.compile(r"[^\W\d_](?:[^.!?…:;,。？！\n]{0,40}[^\W_])?:?")
BEGINNING_S = 60.0
SENTENCE_ENDS = ".?!…。？！"
MAX_UNREPEATED = 3
"""Lines of a dialogue in which nobody speaks twice; more of them are a list of fields."""
MIN_SHARE = 0.5
"""The least share of lines that begin with a name where no times stand beside the names."""
MAX_NAMES = 50
"""Speakers who stand on lines of their own; more of them are headings."""
MIN_FIELDS = 3
"""Lines of a paragraph that make it a record, if another has the same names."""
MIN_TIMED_SHARE = 0.3
"""The same where lines with a time stand between them: above such a transcript programs write notes."""


def choose_layout(lines: Sequence[str]) -> Layout | None:
    """Return the layout of a file's lines, or None for a text without turns."""
    written = [line for line in lines if line]
    counts = {layout: _count_turns(layout, written) for layout in LAYOUTS}
    best = max(LAYOUTS, key=lambda layout: counts[layout])
    is_used = counts[best] > 1 or (counts[best] and best.match(written[0]))
    if is_used and _names_speakers(best, written):
        return best
    spoken = [line for line in written if not CLOCK_LINE.fullmatch(line)]
    least = MIN_SHARE if spoken == written else MIN_TIMED_SHARE
    if is_dialogue(spoken, least) and not _is_list_of_records(lines):
        return NAME_WORDS
    if names := _find_name_lines(written):
        return Layout(kind="heading", pattern=re.compile(f"(?P<name>{'|'.join(names)}):?"))
    if _has_offsets(written):
        return TIME_ONLY
    timed = sum(1 for line in written if TIME_WORDS.match(line))
    return TIME_WORDS if timed > 1 and timed >= MIN_SHARE * len(written) else None


def _names_speakers(layout: Layout, written: Sequence[str]) -> bool:
    """Tell whether what stands where names do is not sentences, none of which comes again.

    Where a day and a time stand beside it and nothing else, it may head an entry of a diary: then one comes again.
    """
    names = [header.name for line in written if (header := layout.match(line)) and header.name]
    sentences = sum(name[-1] in SENTENCE_ENDS for name in names)
    are_headings = layout in (NAME_STAMP, STAMP_NAME)
    return len(set(names)) < len(names) or (not are_headings and sentences < MIN_SHARE * len(names))


def _has_offsets(written: Sequence[str]) -> bool:
    """Tell whether several lines are times with words below, from the beginning on: a diary has times of day."""
    offsets = [
        parse_clock(match["clock"])
        for line, following in pairwise(written)
        if (match := CLOCK_LINE.fullmatch(line)) and not CLOCK_LINE.fullmatch(following)
    ]
    return len(offsets) > 1 and offsets[0] < BEGINNING_S


def _count_turns(layout: Layout, written: Sequence[str]) -> int:
    """Count the turns; a heading without words below it is none."""
    headers = [layout.match(line) for line in written]
    if "words" in layout.pattern.groupindex:
        return sum(1 for header in headers if header and header.name)
    pairs = zip(headers, [*headers[1:], Header(name="")], strict=True)
    return sum(1 for header, next_header in pairs if header and next_header is None)


def is_dialogue(written: Sequence[str], least: float) -> bool:
    """Tell whether `Name: words` lines are a dialogue, and not a list of remarks."""
    named = [at for at, line in enumerate(written) if NAME_WORDS.match(line)]
    if not named:
        return False
    share = len(named) / len(written)
    names = [header.name for header in map(NAME_WORDS.match, written) if header]
    if max(Counter(names).values()) == 1:
        return share == 1 and len(written) <= MAX_UNREPEATED
    return len(named) >= MIN_SHARE * (named[-1] - named[0] + 1) and share >= least


def _is_list_of_records(lines: Sequence[str]) -> bool:
    """Tell whether paragraphs are the fields of records: the same names again, and no sentences behind them."""
    paragraphs = [
        [header for line in group if (header := NAME_WORDS.match(line))]
        for is_written, group in groupby(lines, key=bool)
        if is_written
    ]
    records = [headers for headers in paragraphs if len(headers) >= MIN_FIELDS]
    firsts = Counter(tuple(header.name for header in headers[:MIN_FIELDS]) for headers in records)
    words = [header.words for headers in records for header in headers]
    sentences = sum(text[-1] in SENTENCE_ENDS for text in words)
    return max(firsts.values(), default=0) > 1 and sentences < MIN_SHARE * len(words)


def _find_name_lines(written: Sequence[str]) -> list[str]:
    """Return the names that stand on lines of their own above what each says, escaped; none without such lines.

    One of them speaks again, each has a sentence below, and they make up a good part of the lines.
    """
    found = Counter(line.rstrip(":") for line in written if _NAME_LINE.fullmatch(line))
    stems = Counter(_drop_number(name) for name in found)
    names = {
        name
        for name, count in found.items()
        if count > 1 or (_drop_number(name) != name and stems[_drop_number(name)] > 1)
    }
    at = [n for n, line in enumerate(written) if line.rstrip(":") in names]
    are_above = all(
        following.rstrip(":") not in names and following[-1] in SENTENCE_ENDS
        for following in (written[n + 1] if n + 1 < len(written) else "-" for n in at)
    )
    is_used = 1 < len(names) <= MAX_NAMES and len(names) < len(at)
    is_frequent = len(at) >= MIN_TIMED_SHARE * len(written)
    return sorted(map(re.escape, names)) if is_used and is_frequent and are_above else []


def _drop_number(name: str) -> str:
    """Return what stands before the number of a speaker whom nobody named."""
    return name.rstrip("0123456789")
