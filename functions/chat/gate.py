"""What entered a turn, and which of its calls need their owner's word before they run."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from functions.chat.context.links import addresses
from functions.chat.tools.toolkit import Returned, Tool
from shared.data.codec import adapter
from shared.domain.app import App
from shared.domain.chat import Message, Session
from shared.domain.model import ToolCall
from shared.domain.provenance import LIBRARY, Source

if TYPE_CHECKING:
    from shared.domain.policy import Doubt, Ground


class Gate:
    """Judges calls by the owner's words; grows with every result that the model reads.

    `earlier` are the owner's messages before this one, `entered` whose words the chat holds already.
    """

    def __init__(
        self, said: str, *, earlier: Sequence[str] = (), entered: Iterable[Source] = ()
    ) -> None:
        self._said = said
        self._earlier = earlier
        self._entered = set(entered)
        self._given: list[tuple[Source, str]] = []

    def take(self, returned: Sequence[Returned]) -> None:
        """Note whose words the model is about to read."""
        for one in returned:
            if one.source is not None:
                self._entered.add(one.source)
                self._given.append((one.source, one.text))

    def doubt(self, tool: Tool | None, call: ToolCall) -> "Doubt | None":
        """Return why a call must wait. One that cannot run anyway is in no doubt."""
        arguments = _arguments(call)
        if tool is None or arguments is None or not self._entered or _tells_nobody(tool):
            return None
        from shared.domain.policy import Call, doubt  # here, because most turns have no doubt

        wanted = Call(
            name=tool.name,
            source=tool.source,
            side_effect=tool.side_effect,
            parameters=tool.spec.parameters,
            arguments=arguments,
        )
        return doubt(wanted, self._ground())

    def knows_address(self, url: str) -> bool:
        """Tell whether an address stands in the owner's words or in what was returned."""
        texts = (self._said, *self._earlier, *(text for _, text in self._given))
        return any(url in text and url in addresses(text) for text in texts)

    def _ground(self) -> "Ground":
        from shared.domain.policy import Ground

        message, *earlier = self._wordings
        return Ground(
            message=message,
            earlier=earlier,
            entered=frozenset(self._entered),
            given=tuple(self._given),
        )

    @cached_property
    def _wordings(self) -> list[Any]:
        from shared.domain.wording import wording

        return [wording(text) for text in (self._said, *self._earlier)]


def gate_of(said: str, *, history: Sequence[Message], session: Session, app: App | None) -> Gate:
    """Begin a turn's gate: what the chat holds already may be of others, too."""
    own = [one.text for one in history if one.sender == "human" and not one.from_integration]
    return Gate(said, earlier=own, entered=_entered(history, session, app))


def _entered(history: Sequence[Message], session: Session, app: App | None) -> Iterable[Source]:
    if session.summary or len(history) < session.message_count:  # later answers rest on what is cut
        yield LIBRARY
    if app is not None:  # its description stands in the prompt
        yield Source(kind="app", id=app.id, name=app.name)
    for message in history:
        if message.from_integration:
            yield Source(kind="app", id=message.app_id or "")
        for told in message.metadata.get("sources", ()):
            yield adapter(Source).validate_python(told)


def _tells_nobody(tool: Tool) -> bool:
    """Reading one's own library or account changes nothing and goes to no app."""
    return not tool.side_effect and tool.source.kind != "app"


def _arguments(call: ToolCall) -> Mapping[str, Any] | None:
    try:
        arguments = from_json(call.arguments or "{}", allow_inf_nan=False)
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None
