"""Reductions of a turn's blocks: what is cut or left out, one after the other, until the rest fits; pure.

What others wrote is cut first, the owner's own words last, and the question never.

Also called: context compaction, truncation.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from functions.chat import user_texts
from functions.chat.context.blocks import MIN_CUT_TOKENS, FileNote, TurnBlocks, count_message_tokens
from functions.chat.context.budget import HISTORY_SHARE, cut_documents, cut_results, cut_text
from functions.chat.context.given_files import build_project_notices
from functions.chat.context.required import Required, build_required
from shared.domain.errors import TooLarge
from shared.domain.models.tokens import estimate_tokens
from shared.domain.value import value

Reduce = Callable[[TurnBlocks, int], TurnBlocks]
"""Cuts blocks by as many tokens as are too many, as far as it may."""


@value
class Reduction:
    """One that yields is made already where the history would have less than its share."""

    name: str
    reduce: Reduce
    yields: bool = False


def cut_to_fit(
    blocks: TurnBlocks, budget: int, *, searched: bool, is_last: bool
) -> tuple[Required, list[str]]:
    """Return what is required so that it has at most `budget` tokens, and the names of what was cut.

    Raises TooLarge, in words for the owner.
    """
    history_tokens = sum(message.tokens for message in blocks.history)
    history_room = min(history_tokens, budget // HISTORY_SHARE)
    required = build_required(blocks, searched=searched, is_last=is_last)
    cut: list[str] = []
    for reduction in _REDUCTIONS:
        excess = required.tokens - budget + (history_room if reduction.yields else 0)
        if excess > 0 and (shorter := reduction.reduce(blocks, excess)) != blocks:
            blocks, cut = shorter, [*cut, reduction.name]
            required = build_required(blocks, searched=searched, is_last=is_last)
    if required.tokens > budget:
        raise TooLarge(_explain_excess(blocks, budget))
    return required, list(dict.fromkeys(cut))


def _explain_excess(blocks: TurnBlocks, budget: int) -> str:
    """Blame the calls of the turn unless the owner's own words are too many without them."""
    alone = build_required(replace(blocks, exchanges=()), searched=False, is_last=False)
    fits_alone = bool(blocks.exchanges) and alone.tokens <= budget
    return user_texts.TOO_MUCH_CONTEXT if fits_alone else user_texts.TOO_MUCH_FOR_MODEL


def _leave_out(name: str) -> Reduce:
    return lambda blocks, _: _change(blocks, name, "")


def _cut_text(name: str) -> Reduce:
    """Cut a text in its middle: its beginning and its end still say what it is."""

    def reduce(blocks: TurnBlocks, excess: int) -> TurnBlocks:
        text = getattr(blocks, name)
        tokens = max(MIN_CUT_TOKENS, estimate_tokens(text) - excess)
        return _change(blocks, name, cut_text(text, tokens))

    return reduce


def _cut_documents(name: str, least: int = MIN_CUT_TOKENS) -> Reduce:
    return lambda blocks, excess: _change(
        blocks, name, cut_documents(getattr(blocks, name), excess, least)
    )


def _cut_results(least: int = MIN_CUT_TOKENS) -> Reduce:
    return lambda blocks, excess: replace(
        blocks, exchanges=cut_results(blocks.exchanges, excess, least)
    )


def _change(blocks: TurnBlocks, name: str, block: object) -> TurnBlocks:
    changes: dict[str, Any] = {name: block}
    return replace(blocks, **changes)


def _name_project_files(blocks: TurnBlocks, _: int) -> TurnBlocks:
    """Give the names of a project's files instead of their texts; the numbers of others stay."""
    notes = (
        FileNote(id=each.file_id or "", name=each.title, chars=len(each.contents))
        for each in blocks.project_files
    )
    return replace(blocks, project_files=(), project_notes=(*blocks.project_notes, *notes))


def _name_fewer_files(blocks: TurnBlocks, excess: int) -> TurnBlocks:
    notes = blocks.project_notes
    wanted_tokens = _count_notes(notes) - excess
    while notes and _count_notes(notes) > wanted_tokens:
        notes = notes[:-1]
    return replace(blocks, project_notes=notes)


def _count_notes(notes: Sequence[FileNote]) -> int:
    return count_message_tokens(build_project_notices(notes))


def _hide_pictures(blocks: TurnBlocks, _: int) -> TurnBlocks:
    return replace(blocks, facts=replace(blocks.facts, takes_images=False))


def _leave_out_exchanges(blocks: TurnBlocks, _: int) -> TurnBlocks:
    """Leave out the oldest calls with their results; the latest stay, else they would be made again."""
    return replace(blocks, exchanges=blocks.exchanges[-1:])


_REDUCTIONS: Sequence[Reduction] = (
    Reduction(name="results", reduce=_cut_results(), yields=True),
    Reduction(name="known", reduce=_leave_out("known"), yields=True),
    Reduction(name="similar_chats", reduce=_leave_out("similar_chats"), yields=True),
    Reduction(name="page", reduce=_cut_text("page"), yields=True),
    Reduction(name="project_files", reduce=_cut_documents("project_files")),
    Reduction(name="files", reduce=_cut_documents("files")),
    Reduction(name="details", reduce=_cut_text("details")),
    Reduction(name="guidance", reduce=_leave_out("guidance")),
    Reduction(name="summary", reduce=_cut_text("summary")),
    Reduction(name="pictures", reduce=_hide_pictures),
    Reduction(name="project_files", reduce=_name_project_files),
    Reduction(name="project_files", reduce=_name_fewer_files),
    Reduction(name="page", reduce=_leave_out("page")),
    Reduction(name="details", reduce=_leave_out("details")),
    Reduction(name="summary", reduce=_leave_out("summary")),
    Reduction(name="results", reduce=_cut_results(least=0)),
    Reduction(name="files", reduce=_cut_documents("files", least=0)),
    Reduction(name="app_prompt", reduce=_cut_text("app_prompt")),
    Reduction(name="focus", reduce=_cut_text("focus")),
    Reduction(name="agent_prompt", reduce=_cut_text("agent_prompt")),
    Reduction(name="own_prompt", reduce=_cut_text("own_prompt")),
    Reduction(name="owner_rules", reduce=_cut_text("owner_rules")),
    Reduction(name="results", reduce=_leave_out_exchanges),
)
