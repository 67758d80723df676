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
    """Compares calls with the owner's own words; learns every result that the model reads.

    `earlier_texts` are the owner's messages before this one, `sources` those whose words the chat
    holds already.
    """

    def __init__(
        self, user_text: str, *, earlier_texts: Sequence[str] = (), sources: Iterable[Source] = ()
    ) -> None:
        self._user_text = user_text
        self._earlier_texts = earlier_texts
        self._sources = set(sources)
        self._results: list[tuple[Source, str]] = []

    def record_results(self, outcomes: Sequence[ToolOutcome]) -> None:
        """Record whose words the model reads next."""
        for outcome in outcomes:
            if outcome.source is not None:
                self._sources.add(outcome.source)
                self._results.append((outcome.source, outcome.text))

    def find_confirmation_reason(self, tool: Tool | None, call: ParsedCall) -> "Doubt | None":
        """Return why a call must be confirmed; None where it need not or cannot run anyway."""
        if tool is None or call.arguments is None or not self._sources or _is_private_read(tool):
            return None
        from shared.domain.policy import Call, doubt  # late, because most turns do not need it

        policy_call = Call(
            name=tool.name,
            source=tool.source,
            side_effect=tool.side_effect,
            parameters=tool.spec.parameters,
            arguments=call.arguments,
        )
        return doubt(policy_call, self._build_ground())

    def is_known_url(self, url: str) -> bool:
        """Tell whether an address stands in the owner's messages or in a result of this turn."""
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
    """Build the policy of a turn from what the chat holds already."""
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
    if (
        session.summary or len(history) < session.message_count
    ):  # answers may rest on messages that are cut off
        yield LIBRARY
    if app is not None:  # its description is in the prompt
        yield Source(kind="app", id=app.id, name=app.name)
    for message in history:
        if message.from_integration:
            yield Source(kind="app", id=message.app_id or "")
        for stored_source in message.metadata.get("sources", ()):
            yield type_adapter(Source).validate_python(stored_source)


def _is_private_read(tool: Tool) -> bool:
    """Tell whether a tool reads the owner's library or account: no change, no app involved."""
    return not tool.side_effect and tool.source.kind != "app"
