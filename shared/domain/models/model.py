"""Messages, tool calls and events of a chat model; no storage ids."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from shared.domain.provenance import Source
from shared.domain.value import positional_value, value

ModelRole = Literal["fast", "reader", "standard", "agent", "persona", "persona_premium"]
"""The `reader` reads transcripts, days and chats, and notes what is in them; nobody chats with it."""
Urgency = Literal["crisis", "now", "soon", "later"]
"""Who waits for a model: somebody who may be in a crisis, or reads along, or looks in later, or nobody."""

SAFE_WINDOW_TOKENS = 32_000
"""Window of a model that nothing is known about."""
ANSWER_TOKENS = 2_000
"""What a structured answer may have, unless its prompt needs more."""


@value
class ModelFacts:
    """What a model can be given: `window_tokens` in all, its answer included, and perhaps images.

    What a model `is_local` reads stays on the machine that asks it. One that `is_extractive` reads the question and
    the results of its tools alone. `reads_per_s` is how many tokens it read a second in its last calls, where that is
    slow enough to matter. `places` is how many requests its
    server answers at once, and `parameters` how large the model is; None where it does not say.
    """

    window_tokens: int = SAFE_WINDOW_TOKENS
    takes_images: bool = False
    is_local: bool = False
    is_extractive: bool = False
    reads_per_s: float | None = None
    places: int | None = None
    parameters: int | None = None


UNKNOWN_MODEL = ModelFacts()


@value
class ToolCall:
    """A call the model asked for; `arguments` is JSON text exactly as it came, perhaps broken.

    `given_back` are fields of the provider that it wants to see again with the call, in this turn.
    """

    id: str
    name: str
    arguments: str
    given_back: Mapping[str, Any] = field(default_factory=dict)


@value
class SystemText:
    """Our own instructions."""

    text: str


@value
class Picture:
    """A picture of the user; it is assumed to be `tokens`."""

    content: bytes
    media_type: str
    tokens: int


@value
class UserText:
    """A message of the user, or data in its place; `pictures` came with it.

    One that `is_fleeting` stands in this call alone: no later one begins with the same.
    """

    text: str
    pictures: tuple[Picture, ...] = ()
    is_fleeting: bool = False


@value
class AssistantTurn:
    """An earlier answer of the model, with the calls it asked for.

    `given_back` are fields of the provider, such as reasoning, that it wants to see again in this turn.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    given_back: Mapping[str, Any] = field(default_factory=dict)


@value
class ToolResult:
    """The result of a call, with its source; None: our own text."""

    call_id: str
    text: str
    source: Source | None = None


ModelMessage = SystemText | UserText | AssistantTurn | ToolResult


@value
class ToolSpec:
    """A tool as offered; `name` fits `[A-Za-z0-9_-]{1,64}`, `parameters` is a JSON Schema object.

    `source` is who declared it; None: we did.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    source: Source | None = None


@value
class Usage:
    """Tokens, as the provider counted them; 0 where it did not say.

    `cached_tokens` were read from the provider's cache and `cache_write_tokens` written to it; both
    are part of `input_tokens`. The cost is in millionths of a US dollar; None where the price of the model is not known.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int | None = None


@positional_value
class TextDelta:
    """The next piece of the answer."""

    text: str


@positional_value
class ReasoningDelta:
    """The next piece of the model's reasoning, where the provider shows it."""

    text: str


@positional_value
class ToolCallRequested:
    """One complete call; calls of one cycle arrive in the model's order, before Finished."""

    call: ToolCall


FinishReason = Literal["stop", "tool_calls", "length", "cut", "repetition"]


@value
class ModelCallFinished:
    """The end of one model call: always last, exactly once, unless the stream raised.

    Only "stop" and "tool_calls" end a whole answer: "length" reached the bound, "cut" broke off after
    its first words, "repetition" said the same again and again. It `is_flex` where the provider says that it
    answered at the price of its flex processing. `given_back` belongs to the AssistantTurn of this call.
    """

    reason: FinishReason
    model: str
    usage: Usage = field(default_factory=Usage)
    is_flex: bool = False
    given_back: Mapping[str, Any] = field(default_factory=dict)


@value
class TextWithdrawn:
    """All text of this call so far was a thought: its end came without its beginning.

    It happens once for a model; what it thinks in later calls is ReasoningDelta from the start.
    """


@value
class ToolLeftOut:
    """A tool was left out, because this model refuses its declaration; `reason` is its server's words.

    It comes before the answer, once for each refusal, and not where the refusal is known already.
    """

    name: str
    reason: str


ModelEvent = (
    TextDelta | ReasoningDelta | TextWithdrawn | ToolCallRequested | ToolLeftOut | ModelCallFinished
)


@value
class Prompt:
    """A question for a structured answer: our instructions, and untrusted data kept apart from them.

    `name` and `version` come from the prompt's file; `data` is JSON-like and is sent fenced. The answer has
    at most `answer_tokens`. Where all does not fit a model's window, the longest parts of `data` are cut;
    one that `is_divisible` is never cut: its caller divides it when ModelFailed says that it is too long.
    Of one that `takes_cut_answers` an answer without an end is read as far as it came.
    """

    name: str
    version: str
    instructions: str
    data: Mapping[str, Any]
    answer_tokens: int = ANSWER_TOKENS
    is_divisible: bool = False
    takes_cut_answers: bool = False
