"""Transcripts and chats as text: turns by the file's layout, or one segment a paragraph."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, pairwise

from functions.imports.formats.blocks import Block, date_blocks, drop_addressees
from functions.imports.formats.drafts import SILENT, Contents, Draft, TextFile, Turn, is_owner_name
from functions.imports.formats.front_matter import read_front_matter
from functions.imports.formats.layouts import (
    CLOCK_LINE,
    DAY_LAYOUTS,
    FROM_TO,
    MIN_TIMED_SHARE,
    NAME_WORDS,
    STAMPED,
    TIME_ONLY,
    TIME_WORDS,
    Header,
    Layout,
    choose_layout,
    is_dialogue,
)
from functions.imports.formats.name_lines import join_name_lines
from functions.imports.formats.quotations import drop_quotations
from functions.imports.formats.stamps import parse_clock
from functions.imports.formats.text_chats import read_chat
from functions.imports.formats.titles import (
    HEADING,
    find_heading,
    find_start,
    find_title,
    list_dates,
)
from functions.imports.formats.unread import count_unread_lines
from shared.library.decoding import UnreadableFile

MIN_SENTENCE_SHARE = 0.8
MIN_PROSE_SHARE = 0.4
"""The least share of lines of notes that end a sentence or are Markdown; the others are broken lines."""
WRAP_SLACK = 0.9
MAX_HEAD_LINES = 4
"""Lines of notes, one of which may tell their day."""
_NO_STOPS = frozenset("@#%&*\\/:;,")
"""Punctuation that ends no sentence."""
_CLOSING = "\"'”’»)]}*_"
_MARKDOWN = re.compile(r"(?:#{1,6}|[-*+•]|\d{1,3}[.)]|>)\s+\S")
_DIVIDER = re.compile(r"#{1,6}\s.*|[-*_=]{3,}|[^:\n]{1,40}:")
"""A line between the parts of a document: a heading, a rule, or a word with nothing behind its colon."""
_UNSEEN = re.compile(r"\*\*|__|[\u200f\u061c\u202a-\u202e\u2066-\u2069]")
"""Emphasis of Markdown, and marks of the direction of writing, which stand inside dates and numbers."""


def read_transcript(file: TextFile) -> Contents:
    """Read a transcript, a chat or notes."""
    if (front := read_front_matter(file.text)) and front.text.strip():
        contents = _read_text(file.stem, front.text)
        drafts = [
            replace(
                draft,
                title=front.title or draft.title,
                started_at=draft.started_at or front.started_at,
            )
            for draft in contents.conversations
        ]
        return replace(contents, conversations=drafts)
    return _read_text(file.stem, file.text)


def _read_text(name: str, text: str) -> Contents:
    lines = join_name_lines([_UNSEEN.sub("", line.strip()) for line in text.splitlines()])
    layout, begin = choose_layout(lines), 0
    if layout in (None, TIME_ONLY, NAME_WORDS):
        begin = _find_timed_dialogue(lines) or (0 if layout else _find_owners_dialogue(lines))
        layout = NAME_WORDS if begin else layout
    if layout is None:
        return Contents(
            conversations=[_read_paragraphs(name, text)],
            is_recognised=_is_prose(lines) and sum(map(bool, map(STAMPED.match, lines))) < 2,
            are_notes=True,
        )
    notes, (preamble, blocks) = lines[:begin], _split(layout, lines[begin:])
    preamble = [line for line in [*notes, *preamble] if line and not CLOCK_LINE.fullmatch(line)]
    addressed = drop_addressees(blocks)
    if layout.kind == "chat":
        drafts = list(read_chat(name, preamble, addressed))
        return _require_speech(drafts if addressed == blocks else _drop_references(drafts))
    if layout in DAY_LAYOUTS and (dated := date_blocks(preamble, blocks)):
        return _require_speech(list(read_chat(name, [], dated)))
    is_meeting_chat = layout is FROM_TO or addressed != blocks
    preamble, blocks = _drop_notices(preamble, blocks)
    spoken = addressed if is_meeting_chat else _trim_last(layout, blocks)
    turns = _read_turns(spoken)
    started_at = _find_linked_start(blocks) or find_start(name, preamble)
    title = find_title(name, preamble)
    kept = drop_quotations(turns) if is_meeting_chat else turns
    contents = _require_speech([Draft(turns=kept, title=title, started_at=started_at)])
    below = blocks[-1].lines[len(spoken[-1].lines) :]
    return replace(
        contents,
        left_out=count_unread_lines([*preamble, *below], title),
        is_recognised=layout is not TIME_WORDS or _is_prose(lines),
    )


def _find_timed_dialogue(lines: Sequence[str]) -> int:
    """Return where a transcript begins below notes: from its first time on others speak; else 0."""
    begin = next((at for at, line in enumerate(lines) if CLOCK_LINE.fullmatch(line)), 0)
    above, below = (
        [line for line in part if line and not CLOCK_LINE.fullmatch(line)]
        for part in (lines[:begin], lines[begin:])
    )
    noted, speakers = (
        {header.name for header in map(NAME_WORDS.match, part) if header} for part in (above, below)
    )
    return begin if not noted & speakers and is_dialogue(below, MIN_TIMED_SHARE) else 0


def _find_owners_dialogue(lines: Sequence[str]) -> int:
    """Return where a transcript begins below notes: the last part is a dialogue of the owner's; else 0."""
    begin = next((at for at in reversed(range(len(lines))) if _DIVIDER.fullmatch(lines[at])), -1)
    headers = [NAME_WORDS.match(line) for line in lines[begin + 1 :] if line]
    names = [header.name for header in headers if header]
    is_dialogue = len(names) == len(headers) > 1 and any(map(is_owner_name, names))
    return begin + 1 if is_dialogue else 0


def _drop_references(drafts: Sequence[Draft]) -> list[Draft]:
    return [replace(draft, turns=drop_quotations(draft.turns)) for draft in drafts]


def _drop_notices(
    preamble: Sequence[str], blocks: Sequence[Block]
) -> tuple[list[str], list[Block]]:
    """Leave out that somebody began and ended the recording: lines of the same words behind a speaker's name."""
    names = {block.header.name for block in blocks} - {""}
    *others, last = blocks
    closing = _read_notice(last.lines[-1], names) if last.lines else set()
    opening = [line for line in preamble if _share_words(_read_notice(line, names), closing)]
    if not opening:
        return list(preamble), list(blocks)
    above = [line for line in preamble if line not in opening]
    return above, [*others, replace(last, lines=last.lines[:-1])]


def _read_notice(line: str, names: Collection[str]) -> set[str]:
    """Return the words behind the speaker's name with which a line begins."""
    name = max((name for name in names if line.startswith(f"{name} ")), key=len, default=line)
    return set(line[len(name) :].split())


def _share_words(one: Collection[str], other: Collection[str]) -> bool:
    return bool(one) and 2 * len({*one} & {*other}) >= max(len(one), len(other))


def _require_speech(drafts: Sequence[Draft]) -> Contents:
    if not any(draft.turns for draft in drafts):
        raise UnreadableFile(SILENT)
    return Contents(conversations=drafts)


def _read_paragraphs(name: str, text: str) -> Draft:
    """Read notes: a paragraph is a segment, or a line where each ends a sentence.

    A heading above them is their title, and stays in the text.
    """
    paragraphs = re.split(r"\n\s*\n", "\n".join(text.splitlines()))
    lines = [line for line in text.splitlines() if line.strip()]
    is_by_line = sum(map(_ends_sentence, lines)) >= MIN_SENTENCE_SHARE * len(lines)
    turns = [Turn(text=p.strip()) for p in (lines if is_by_line else paragraphs) if p.strip()]
    title = find_heading([line.strip() for line in lines[:1]])
    head = [line.strip() for line in lines[:MAX_HEAD_LINES]]
    return Draft(turns=turns, title=title, started_at=find_start(name, list_dates(head)))


def _is_prose(lines: Sequence[str]) -> bool:
    """Tell whether a text is notes: sentences, or Markdown, and not a table, code, a log or a dialogue."""
    paragraphs = [
        list(group)
        for is_written, group in groupby(lines, key=lambda line: bool(line.strip()))
        if is_written
    ]
    firsts = [lines[0] for lines in paragraphs if len(lines) > 1 and not _reads_as_notes(lines[0])]
    if len(set(firsts)) < len(firsts):  # they come again, as speakers do
        return False
    count = sum(map(_count_notes, paragraphs))
    return count >= MIN_PROSE_SHARE * sum(map(len, paragraphs))


def _count_notes(paragraph: Sequence[str]) -> int:
    """Count the lines that read as notes: all of them where sentences were broken to fit a width."""
    if _reads_as_notes(paragraph[-1]) and _is_wrapped(paragraph):
        return len(paragraph)
    return sum(map(_reads_as_notes, paragraph))


def _is_wrapped(paragraph: Sequence[str]) -> bool:
    """Tell whether each line goes as far as it can: the next word would not have fitted on it."""
    width = WRAP_SLACK * max(map(len, paragraph))
    return all(
        len(line) + 1 + len(following.split(maxsplit=1)[0]) > width
        for line, following in pairwise(paragraph)
    )


def _reads_as_notes(line: str) -> bool:
    if _MARKDOWN.match(line):
        return True
    last = line.rstrip(_CLOSING)[-1:]
    return bool(last.strip()) and _ends_sentence(last) and last not in _NO_STOPS


def _ends_sentence(line: str) -> bool:
    return unicodedata.category(line.strip()[-1]) == "Po"


def _split(layout: Layout, lines: Sequence[str]) -> tuple[list[str], list[Block]]:
    """Return the lines before the first turn, and the turns."""
    preamble: list[str] = []
    blocks: list[tuple[Header, list[str]]] = []
    fields = _count_fields(lines) if layout is NAME_WORDS else 0
    for at, line in enumerate(lines):
        if at >= fields and (header := layout.match(line)):
            blocks.append((header, []))
        elif not blocks:
            preamble.append(line)
        else:
            blocks[-1][1].append(line)
    return list(filter(None, preamble)), [Block(header=h, lines=body) for h, body in blocks]


def _count_fields(lines: Sequence[str]) -> int:
    """Count the lines up to the end of a first paragraph that looks like turns, but is the fields of a form.

    Nobody of them speaks again. Headings may stand above it.
    """
    written = (at for at, line in enumerate(lines) if line and not HEADING.fullmatch(line))
    begin = next(written, len(lines))
    end = next((at for at in range(begin, len(lines)) if not lines[at]), len(lines))
    fields, others = (
        [NAME_WORDS.match(line) for line in part] for part in (lines[begin:end], lines[end:])
    )
    names = {header.name for header in others if header}
    are_fields = all(header and header.name not in names for header in fields)
    return end if names and len(fields) > 1 and are_fields else 0


# --- transcripts


def _trim_last(layout: Layout, blocks: Sequence[Block]) -> list[Block]:
    """Drop what programs write below the last turn: more than any other turn has."""
    *others, last = blocks
    if not others or any(_count_words(b.lines[_find_end(b) :]) for b in others):
        return list(blocks)
    is_one_line = layout.kind == "line" and not any(_count_words(b.lines) for b in others)
    return [*others, replace(last, lines=[] if is_one_line else last.lines[: _find_end(last)])]


def _count_words(lines: Sequence[str]) -> int:
    return sum(1 for line in lines if line and not _is_layout(line))


def _find_end(block: Block) -> int:
    """Return where a turn goes beyond its first paragraph."""
    words = [at for at, line in enumerate(block.lines) if line]
    first = 0 if block.header.words else words[0] if words else 0
    blank = [at for at, line in enumerate(block.lines) if not line and at >= first]
    return blank[0] if blank else len(block.lines)


def _is_layout(line: str) -> bool:
    return bool(HEADING.fullmatch(line) or CLOCK_LINE.fullmatch(line))


def _read_turns(blocks: Sequence[Block]) -> list[Turn]:
    clock: float | None = None
    turns = []
    for block in blocks:
        start = _read_start(block.header, clock)
        words = [line for line in block.lines if not _is_layout(line)]
        text = Block(header=block.header, lines=words).text
        end = float(block.header.end_ms) / 1000 if block.header.end_ms else None
        turns.append(_build_turn(block.header.name, text, start, end))
        clock = _find_clock(block.lines)
    return _begin_at_zero([turn for turn in turns if turn.text])


def _read_start(header: Header, clock: float | None) -> float | None:
    """Return the time of a turn: its own, or that of the line with a time before it."""
    if header.start_ms:
        return float(header.start_ms) / 1000
    return parse_clock(header.clock) if header.clock else clock


def _find_clock(lines: Sequence[str]) -> float | None:
    clocks = [match["clock"] for match in map(CLOCK_LINE.fullmatch, lines) if match]
    return parse_clock(clocks[-1]) if clocks else None


def _build_turn(name: str, text: str, start: float | None, end: float | None = None) -> Turn:
    return Turn(text=text, speaker=name, start=start, end=end, is_user=is_owner_name(name))


def _begin_at_zero(turns: Sequence[Turn]) -> list[Turn]:
    """Turn times of day into seconds from the first; past midnight they go on."""
    starts = [turn.start for turn in turns if turn.start is not None]
    first = starts[0] if starts and starts[0] >= 3600 else 0.0
    day = 0.0
    previous: float | None = None
    shifted: list[Turn] = []
    for turn in turns:
        start = None if turn.start is None else round(turn.start - first + day, 3)
        if start is not None and previous is not None and start < previous - 43_200:
            day += 86_400.0
            start += 86_400.0
        previous = previous if start is None else start
        end = None if turn.end is None or start is None else max(start, turn.end - first + day)
        shifted.append(replace(turn, start=start, end=end))
    return shifted


def _find_linked_start(blocks: Sequence[Block]) -> datetime | None:
    """Return the start of a file that writes moments in milliseconds since 1970."""
    start_ms = blocks[0].header.start_ms
    if len(start_ms) < 12:
        return None
    return datetime.fromtimestamp(int(start_ms) / 1000, UTC)
