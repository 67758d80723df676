"""Quirks of servers, by kind: what public reports describe, and how a question must end all the same."""

from collections.abc import Mapping, Sequence

from tests.servers.quirks import (
    call_pieces,
    chunks,
    control_text,
    ends,
    fields_back,
    message_order,
    our_fields,
    refusal_bodies,
    refusal_reasons,
    refused_tools,
    structured_answers,
    too_long,
    waits,
)
from tests.servers.quirky_openai import Quirk

QUIRKS_BY_KIND: Mapping[str, Sequence[Quirk]] = {
    "call": call_pieces.ASSEMBLY,
    "name": call_pieces.NAMES,
    "arguments": call_pieces.ARGUMENT_FORMS,
    "call-id": call_pieces.IDS,
    "call-history": call_pieces.HISTORY,
    "no-call": call_pieces.NO_CALLS,
    "order": message_order.ORDER,
    "message": message_order.OTHER_MESSAGES,
    "field-wanted-back": fields_back.WANTED,
    "more-wanted-back": fields_back.MORE_WANTED,
    "field-refused-back": fields_back.REFUSED,
    "thought": control_text.THOUGHTS,
    "end-of-turn": control_text.ENDS_OF_TURNS,
    "call-as-text": control_text.CALLS_AS_TEXT,
    "prose": control_text.PROSE,
    "structured-asked": structured_answers.ASKED,
    "structured-answered": structured_answers.ANSWERED,
    "structured-endless": structured_answers.ENDLESS_ANSWERS,
    "event": chunks.EVENTS,
    "bytes": chunks.BYTES,
    "thought-field": chunks.THOUGHTS_IN_FIELDS,
    "envelope": chunks.ENVELOPES,
    "moved": chunks.MOVED,
    "no-stream": chunks.NO_STREAMS,
    "endless": chunks.ENDLESS,
    "repeating": chunks.REPEATING,
    "reason": ends.REASONS,
    "no-reason": ends.NO_REASONS,
    "error-inside": ends.ERRORS_INSIDE,
    "too-long": too_long.TOO_LONG,
    "refusal": refusal_reasons.REASONS,
    "refusal-body": refusal_bodies.BODIES,
    "wait": waits.WAITS,
    "our-field": our_fields.FIELDS_OF_OURS,
    "several": our_fields.SEVERAL_AT_ONCE,
    "no-tools": our_fields.NO_TOOLS,
    "refused-tool": refused_tools.REFUSED_TOOLS,
    "tricky-tool": refused_tools.TRICKY_TOOLS,
    "personal": refused_tools.PERSONAL,
    "change": refused_tools.CHANGES,
}
QUIRKS: Mapping[str, Quirk] = {
    f"{kind}/{quirk.id}": quirk for kind, quirks in QUIRKS_BY_KIND.items() for quirk in quirks
}
