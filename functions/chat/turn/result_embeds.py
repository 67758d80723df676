"""Embeds of results: data that a tool returned becomes a parent with children, or one embed, and is stored before the model reads it."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import ToolOutcome
from functions.chat.turn.prepared_turn import PreparedTurn
from shared import telemetry
from shared.domain.apps.tool_data import EmbedType, ToolData, omit_fields, to_compact_json
from shared.domain.chats.embed import (
    Embed,
    EmbedRef,
    build_preview,
    build_ref,
    compute_content_hash,
)
from shared.domain.chats.storage_mode import name_within
from shared.domain.ids import EmbedId, MessageId, SessionId
from shared.domain.provenance import Source
from shared.domain.value import value

MAX_CHILDREN = 48
"""A longer list is one table: the children of all calls of a cycle are one write, and a later turn reads each."""
_ID_CHARS = 22
"""Of a hash; with the id of a sealed chat before it, it is an id still."""
_FIELDS_BY_TYPE: Mapping[EmbedType, frozenset[str]] = {
    "place": frozenset({"latitude", "longitude"}),
    "event": frozenset({"title", "start"}),
    "code": frozenset({"code", "language"}),
    "website": frozenset({"url"}),
}
"""The fields by which data is drawn as something, unless it names its `type`; docs/apps.md promises them."""
_NAMING_FIELDS = ("title", "name", "url")
STORE_TIMEOUT_S = 2.5


@value
class ResultPlace:
    """The answer that a result belongs to."""

    session_id: SessionId
    message_id: MessageId
    now: datetime


@value
class _Listing:
    """A list of objects in a result; `name` is its field, None where the result is the list."""

    name: str | None
    entries: Sequence[Mapping[str, Any]]
    rest: Mapping[str, Any]


async def keep_results(
    deps: ChatDeps,
    turn: PreparedTurn,
    calls: Sequence[ParsedCall],
    outcomes: Sequence[ToolOutcome],
) -> list[EmbedRef]:
    """Return references to what is stored by now, in call order.

    Where it cannot be stored the answer goes on without: the model has the results themselves.
    """
    place = ResultPlace(
        session_id=turn.session.id, message_id=MessageId(turn.run_id), now=deps.clock.now()
    )
    families = [
        (call, build_embeds(call, outcome, place))
        for call, outcome in zip(calls, outcomes, strict=True)
    ]
    embeds = [embed for _, family in families for embed in family]
    if not embeds:
        return []
    try:
        with anyio.fail_after(STORE_TIMEOUT_S):
            await deps.stores.embeds.add_of_run(turn.uid, turn.run_id, embeds)
    except Exception as error:  # noqa: BLE001 - whatever storage does, the answer has its results
        telemetry.warning("embeds_not_stored", error=type(error).__name__)
        return []
    return [build_ref(family[0], call.id) for call, family in families if family]


def build_embeds(call: ParsedCall, outcome: ToolOutcome, place: ResultPlace) -> list[Embed]:
    """Return the embeds of a call, the parent first; none of text, which its step shows."""
    data, source = outcome.data, outcome.source
    if data is None or source is None or not isinstance(data.content, dict | list):
        return []
    builder = _Builder(call=call, data=data, source=source, place=place)
    listing = _find_list(data.content)
    return builder.build_family(listing) if listing else [builder.build_single()]


@value
class _Builder:
    call: ParsedCall
    data: ToolData
    source: Source
    place: ResultPlace

    def build_single(self) -> Embed:
        """Return the embed of what is no list, or too long a one for children."""
        content = self.data.content
        usual: EmbedType = "sheet" if _is_table(content) else "tool_result"
        is_list = isinstance(content, list) or any(map(_is_table, content.values()))
        kind = usual if is_list else _find_type(content, self.data.entry_type, usual)
        return self._build(0, kind, content)

    def build_family(self, listing: _Listing) -> list[Embed]:
        """Return the parent, which says what was asked and holds the rest of the result, and the children."""
        children = [
            self._build(
                number,
                _find_type(entry, self.data.entry_type, "record"),
                entry,
                parent_id=self._name(0),
            )
            for number, entry in enumerate(listing.entries, 1)
        ]
        about = {"tool": self.call.name, "input": self.call.arguments}
        if listing.name is not None:
            about |= {"result": listing.rest, "list": listing.name}
        ids = tuple(child.id for child in children)
        return [self._build(0, "tool_result", about, embed_ids=ids), *children]

    def _build(
        self,
        number: int,
        kind: EmbedType,
        content: Any,
        *,
        embed_ids: tuple[EmbedId, ...] | None = None,
        parent_id: EmbedId | None = None,
    ) -> Embed:
        text = to_compact_json(content)
        return Embed(
            id=self._name(number),
            type=kind,
            content=text,
            preview=build_preview(self._describe(content)),
            content_hash=compute_content_hash(text),
            length=len(text),
            session_ids=(self.place.session_id,),
            message_id=self.place.message_id,
            source=self.source,
            created_at=self.place.now,
            embed_ids=embed_ids,
            parent_id=parent_id,
            hidden_fields=self.data.hidden_fields,
        )

    def _describe(self, content: Any) -> str:
        """Return what an entry is called, or what a model may read of it: it reads previews too."""
        visible = omit_fields(content, self.data.hidden_fields)
        fields = visible if isinstance(visible, dict) else {}
        names = (fields.get(name) for name in _NAMING_FIELDS)
        named = (name for name in names if isinstance(name, str) and name.strip())
        return next(named, to_compact_json(visible))

    def _name(self, number: int) -> EmbedId:
        """Name an embed, the same in a repeat of its run."""
        digest = hashlib.sha256(f"{self.call.unique_id}/{number}".encode()).hexdigest()
        return EmbedId(name_within(self.place.session_id, digest[:_ID_CHARS]))


def _find_list(content: Any) -> _Listing | None:
    """Find the only list of objects in a result; None where it is empty or too long for children."""
    if isinstance(content, list):
        return _Listing(name=None, entries=content, rest={}) if _has_children(content) else None
    names = [name for name, field in content.items() if _is_table(field)]
    if len(names) != 1 or not _has_children(content[names[0]]):
        return None
    rest = {name: field for name, field in content.items() if name != names[0]}
    return _Listing(name=names[0], entries=content[names[0]], rest=rest)


def _has_children(entries: Sequence[Any]) -> bool:
    return _is_table(entries) and len(entries) <= MAX_CHILDREN


def _is_table(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(row, dict) for row in content)
    )


def _find_type(content: Any, declared: EmbedType | None, usual: EmbedType) -> EmbedType:
    """Return how data is drawn: as its tool says, as it says itself, or by its fields."""
    if declared is not None:
        return declared
    if not isinstance(content, dict):
        return usual
    if content.get("type") in get_args(EmbedType):
        own: EmbedType = content["type"]
        return own
    if str(content.get("image", "")).startswith("data:image/"):
        return "image"
    fitting = (kind for kind, names in _FIELDS_BY_TYPE.items() if names <= content.keys())
    return next(fitting, usual)
