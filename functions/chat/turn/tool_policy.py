"""Tool policy: which calls need a confirmation, as the defence against prompt injection."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from functions.chat.context.link_filter import extract_urls
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import Tool, ToolOutcome
from shared.data.codec import type_adapter
from shared.domain.app import App
from shared.domain.chat import Message, Session
from shared.domain.provenance import LIBRARY, Source

if TYPE_CHECKING:
    from shared.domain.policy import Doubt, Ground


class ToolPolicy:
    """Judges calls by the owner's words; grows with every result that the model reads.

    `earlier` are the owner's messages before this one, `entered` whose words the chat holds already.
    """

    def __init__(
        self, user_text: str, *, earlier_texts: Sequence[str] = (), sources: Iterable[Source] = ()
    ) -> None:
        self._user_text = user_text
        self._earlier_texts = earlier_texts
        self._sources = set(sources)
        self._results: list[tuple[Source, str]] = []

    def record_results(self, outcomes: Sequence[ToolOutcome]) -> None:
        """Note whose words the model is about to read."""
        for outcome in outcomes:
            if outcome.source is not None:
                self._sources.add(outcome.source)
                self._results.append((outcome.source, outcome.text))

    def find_confirmation_reason(self, tool: Tool | None, call: ParsedCall) -> "Doubt | None":
        """Return why a call must wait. One that cannot run anyway is in no doubt."""
        if tool is None or call.arguments is None or not self._sources or _is_private_read(tool):
            return None
        from shared.domain.policy import Call, doubt  # here, because most turns have no doubt

        policy_call = Call(
            name=tool.name,
            source=tool.source,
            side_effect=tool.side_effect,
            parameters=tool.spec.parameters,
            arguments=call.arguments,
        )
        return doubt(policy_call, self._build_ground())

    def is_known_url(self, url: str) -> bool:
        """Tell whether an address stands in the owner's words or in what was returned."""
        texts = (self._user_text, *self._earlier_texts, *(text for _, text in self._results))
        return any(url in text and url in extract_urls(text) for text in texts)

    def _build_ground(self) -> "Ground":
        from shared.domain.policy import Ground

        message, *earlier = self._wordings
        return Ground(
            message=message,
            earlier=earlier,
            entered=frozenset(self._sources),
            given=tuple(self._results),
        )

    @cached_property
    def _wordings(self) -> list[Any]:
        from shared.domain.wording import wording

        return [wording(text) for text in (self._user_text, *self._earlier_texts)]


def build_tool_policy(
    user_text: str, *, history: Sequence[Message], session: Session, app: App | None
) -> ToolPolicy:
    """Begin a turn's gate: what the chat holds already may be of others, too."""
    user_texts = [
        message.text
        for message in history
        if message.sender == "human" and not message.from_integration
    ]
    return ToolPolicy(
        user_text, earlier_texts=user_texts, sources=_list_sources(history, session, app)
    )


def _list_sources(
    history: Sequence[Message], session: Session, app: App | None
) -> Iterable[Source]:
    if session.summary or len(history) < session.message_count:  # later answers rest on what is cut
        yield LIBRARY
    if app is not None:  # its description stands in the prompt
        yield Source(kind="app", id=app.id, name=app.name)
    for message in history:
        if message.from_integration:
            yield Source(kind="app", id=message.app_id or "")
        for stored_source in message.metadata.get("sources", ()):
            yield type_adapter(Source).validate_python(stored_source)


def _is_private_read(tool: Tool) -> bool:
    """Reading one's own library or account changes nothing and goes to no app."""
    return not tool.side_effect and tool.source.kind != "app"
