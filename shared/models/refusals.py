"""Refusals of a model's server: what is wrong, what may be asked otherwise, and when to come back; pure.

Servers have no common codes. A refusal names its reason in words, which are compared with those of
refusal_words.py. What a refusal quotes of the request is no reason: anybody may have written it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from pydantic_core import from_json

from shared.domain.errors import KeepsakeError, ModelFailed, RateLimited, Unavailable
from shared.domain.failure import FailureReason
from shared.domain.value import value
from shared.models.known_models import Step
from shared.models.refusal_words import list_reason_words, list_step_words

_MAX_WORDS = 2_000
_MIN_WINDOW_TOKENS = 1_024
_MAX_RETRY_AFTER_S = 86_400.0
_NO_WORDS = frozenset(("code", "status", "failed_generation", "id", "request_id"))
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Any other text may quote the prompt."""
_RETRYABLE_STATUSES = (408, 409, 425)

_REASON_BY_CODE: Mapping[str, FailureReason] = {
    "json_validate_failed": "malformed_answer",
    "tool_use_failed": "malformed_answer",
    "invalid_api_key": "refused_key",
    "api_key_invalid": "refused_key",
    "model_not_found": "unknown_model",
    "model_decommissioned": "unknown_model",
    "insufficient_quota": "no_quota",
    "exceeded_current_quota_error": "no_quota",
    "arrearage": "no_quota",
    "allocationquota.freetieronly": "no_quota",
    "spend_limit_reached": "no_quota",
    "budget_exceeded": "no_quota",
    "context_length_exceeded": "too_long",
    "exceed_context_size_error": "too_long",
    "content_filter": "filtered",
    "content_policy_violation": "filtered",
    "data_inspection_failed": "filtered",
}
_REASON_BY_STATUS: Mapping[int, FailureReason] = {
    401: "refused_key",
    402: "no_quota",
    403: "refused_key",
    404: "unknown_model",
    413: "too_long",
}

_TOOL_PLACE = re.compile(r"(?:tools|functions?|function_declarations)(?:\[|\.)(\d{1,4})\b")
_PAGE = re.compile(r"<(?:html|!doctype|body|h1)\b", re.IGNORECASE)
_TOO_LARGE = re.compile(r"request too large|must be reduced in order to run", re.IGNORECASE)
_WINDOW = (
    r"\d+ \+ \d+ > (\d{4,9})",
    r"n_ctx\W{1,4}(\d{4,9})",
    r"(?:context|prompt|input|sequence)[ _](?:length|size|window|limit)(?: of the model| limit)?(?:\s+(?:is|of|only|at|to)\b){0,2}\W{0,5}(\d[\d,_]{3,9})",
    r"(\d[\d,_]{3,9}) (?:tokens? )?(?:maximum|max|context|limit)",
    r"(?:less than|<=|at most|limit of|limit is|limit:|up to|maximum of|maximum is|>)\s*(\d[\d,_]{3,9})",
    r"\[\d+,\s*(\d[\d_]{3,9})\]",
    r"maximum\D{0,60}(\d[\d,_]{3,9})",
)
_BOUND = (
    r"max(?:_completion|_new|_output)?_tokens\W{1,4}\d+ > (\d{1,9})",
    r"(?<!\+ )(?<!\+ `)max(?:_completion|_new|_output)?_tokens\D{0,60}?(?:at most|<=|less than(?: or equal to)?|maximum of|up to)\W{0,4}(\d[\d,_]{0,9})",
    r"max(?:_completion|_new|_output)?_tokens\D{0,40}\[\d+,\s*(\d{1,9})\]",
    r"(?:at most|maximum of) (\d[\d,_]{0,9}) (?:completion|output) tokens",
    r"maximum tokens.{0,60}limit of (\d[\d,_]{0,9})",
)
"""How servers tell a window and a bound; compiled with the first refusal, which most processes never meet."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|milli\w*|s|sec\w*|m|min\w*|h|hours?)?(?![a-z])")
_TRY_AGAIN = re.compile(
    r"(?:try again|retry)\D{0,20}((?:\d+(?:\.\d+)?\s*(?:ms|milli\w*|s\b|sec\w*|m(?![a-z])|min\w*|h(?![a-z])|hours?)?\s*)+)",
    re.IGNORECASE,
)
_SECONDS_BY_UNIT: Mapping[str, float] = {
    "ms": 0.001,
    "milli": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3_600.0,
}


@value
class Refusal:
    """What a server said instead of an answer.

    `words` are its own, `given` the texts that it may quote. `retry_after_s` counts from now.
    `generation` is what its model wrote, where the server could not read it. It `has_error` where it is
    an object with an error, as only servers of models send it.
    """

    status: int
    words: str = ""
    code: str | None = None
    retry_after_s: float | None = None
    numbers: Mapping[str, int] | None = None
    generation: str | None = None
    has_error: bool = False

    def find_reason(self, given: Collection[str] = ()) -> FailureReason:
        """Return the reason, "other" where none is known."""
        if self.code and (reason := _REASON_BY_CODE.get(self.code.lower())):
            return reason
        named = (r for r, pattern in list_reason_words() if _finds(pattern, self.words, given))
        reason = next(named, None)
        if self.status == 429 and (reason != "no_quota" or _is_passing(self.words)):
            return "too_long" if _TOO_LARGE.search(self.words) else "other"
        if self.status >= 500 and reason != "too_long":
            return "other"
        if reason is None and self.status in (404, 405) and not self.has_error:
            return "wrong_server"
        return reason or _REASON_BY_STATUS.get(self.status, "other")

    def list_steps(self) -> list[Step]:
        """Return the steps that its words name, the likeliest first."""
        found = (step for step, pattern in list_step_words() if pattern.search(self.words))
        return list(dict.fromkeys(found))

    def find_tool(self, names: Sequence[str]) -> str | None:
        """Return the name of the tool that it names, by place or by name."""
        if places := _TOOL_PLACE.findall(self.words):
            number = int(places[-1])
            return names[number] if number < len(names) else None
        named = (n for n in names if re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", self.words))
        return next(named, None)

    def find_window(self, given: Collection[str] = ()) -> int | None:
        """Return the tokens that the server says it takes."""
        if self.numbers and (window := self.numbers.get("n_ctx")):
            return window
        return None if _PAGE.search(self.words) else next(self._list_windows(given), None)

    def find_bound(self, given: Collection[str] = ()) -> int | None:
        """Return how many tokens the server lets a request ask it to write."""
        found = (re.search(pattern, self.words, re.IGNORECASE) for pattern in _BOUND)
        match = next(filter(None, found), None)
        if match is None or _is_quoted(match[0], given):
            return None
        return _parse_number(match[1]) or None

    def build_error(
        self, reason: FailureReason, *, may_be_too_long: bool = False
    ) -> Unavailable | ModelFailed:
        """Build our error. The server's words are left out, as they may quote the prompt."""
        code = self.code if self.code and _CODE.fullmatch(self.code) else None
        text = f"the model provider answered {self.status}" + (f" ({code})" if code else "")
        if reason != "other" and not (reason == "unknown_model" and self.status >= 500):
            return ModelFailed(text, reason=reason)
        if self.status == 429:
            return RateLimited(text, retry_after_s=self.retry_after_s)
        if self.status in _RETRYABLE_STATUSES or self.status >= 500:
            return Unavailable(text, retry_after_s=self.retry_after_s)
        return ModelFailed(text, reason=reason, may_be_too_long=may_be_too_long)

    def _list_windows(self, given: Collection[str]) -> Iterator[int]:
        for pattern in _WINDOW:
            for match in re.finditer(pattern, self.words, re.IGNORECASE):
                number = _parse_number(match[1])
                if number >= _MIN_WINDOW_TOKENS and not _is_quoted(match[0], given):
                    yield number


class Refused(KeepsakeError):
    """A server refused a request; never seen outside of the wire."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"the model provider answered {refusal.status}")
        self.refusal = refusal


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Refusal:
    """Read a refusal in any of its forms: an object, a list of one, a text, a page, or nothing."""
    return _read(status, _parse(body), parse_retry_after_s(headers, now))


def read_stream_error(error: Any) -> Refusal:
    """Read an error that a provider reports inside a stream: its status is in it, or said by its type."""
    facts = _find_facts({"error": error})
    names = ("status", "code", "status_code", "http_status")
    statuses = (_to_status(facts.get(name)) for name in names)
    kind = f"{facts.get('type', '')} {facts.get('code', '')} {facts.get('error_type', '')}".lower()
    is_invalid = any(word in kind for word in ("invalid", "badrequest", "bad_request"))
    status = next(filter(None, statuses), 400)
    refusal = _read(status, {"error": error}, None)
    is_named = is_invalid or status != 400 or refusal.find_reason() != "other"
    return refusal if is_named else replace(refusal, status=500)


def _read(status: int, content: Any, retry_after_s: float | None) -> Refusal:
    facts = _find_facts(content)
    words = " ".join(dict.fromkeys(_list_words(content)))[:_MAX_WORDS]
    codes = [*filter(None, (_to_code(facts.get(name)) for name in ("code", "type", "status")))]
    known = (code for code in codes if code.lower() in _REASON_BY_CODE)
    generation = facts.get("failed_generation")
    return Refusal(
        status=status,
        words=words,
        code=next(known, None) or next(iter(codes), None),
        retry_after_s=_find_delay_s(content, words) if retry_after_s is None else retry_after_s,
        numbers={k: v for k, v in facts.items() if _is_window(v)},
        generation=generation if isinstance(generation, str) and generation.strip() else None,
        has_error=isinstance(content, list) or (isinstance(content, dict) and "error" in content),
    )


def _is_window(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= _MIN_WINDOW_TOKENS


def _is_passing(words: str) -> bool:
    """Tell whether a refusal says when to come back."""
    return _TRY_AGAIN.search(words) is not None


def parse_retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Parse when to come back, in seconds: a number, or a date beside the server's own or our clock."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _parse_seconds(headers.get(name, ""))
        if seconds is not None:
            return min(seconds * unit_s, _MAX_RETRY_AFTER_S)
    until = _parse_date(headers.get("retry-after", ""))
    server_now = _parse_date(headers.get("date", "")) or now
    if until is None or server_now is None:
        return None
    return min(max((until - server_now).total_seconds(), 0.0), _MAX_RETRY_AFTER_S)


def _parse_seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _parse_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _find_delay_s(content: Any, words: str) -> float | None:
    """Find when to come back in a body: Gemini's `retryDelay`, or "Please try again in 6m0s"."""
    for name in ("retryDelay", "retry_after", "retry_after_s", "retry_after_seconds"):
        found = _find_value(content, name)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
        if isinstance(found, str) and (seconds := _parse_duration(found)) is not None:
            return seconds
    match = _TRY_AGAIN.search(words)
    return _parse_duration(match[1]) if match else None


def _parse_duration(text: str) -> float | None:
    parts = _DURATION.findall(text.strip())
    if not parts:
        return None
    return min(sum(float(number) * _get_unit_s(unit) for number, unit in parts), _MAX_RETRY_AFTER_S)


def _get_unit_s(unit: str) -> float:
    starts = (name for name in _SECONDS_BY_UNIT if unit.startswith(name))
    return _SECONDS_BY_UNIT[next(starts)] if unit else 1.0


def _find_value(content: Any, name: str, depth: int = 5) -> Any:
    if depth == 0:
        return None
    if isinstance(content, dict) and name in content:
        return content[name]
    parts = (
        content.values()
        if isinstance(content, dict)
        else content
        if isinstance(content, list)
        else ()
    )
    found = (_find_value(part, name, depth - 1) for part in parts)
    return next((each for each in found if each is not None), None)


def _parse(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        return body.decode(errors="replace")


def _find_facts(content: Any) -> Mapping[str, Any]:
    """Return the object that says what is wrong: the content, or what it holds as its error."""
    if isinstance(content, list):
        content = next((part for part in content if isinstance(part, dict)), {})
    if not isinstance(content, dict):
        return {}
    inner = content.get("error")
    if isinstance(inner, list):
        inner = next((part for part in inner if isinstance(part, dict)), None)
    return {**content, **inner} if isinstance(inner, dict) else content


def _list_words(content: Any, depth: int = 8) -> Iterator[str]:
    """Yield the texts of a refusal, outermost first; what is JSON in a text is read as well."""
    if isinstance(content, str):
        yield content
        if depth and content.lstrip()[:1] in ("{", "["):
            inner = _parse(content.encode(errors="replace"))
            if not isinstance(inner, str):
                yield from _list_words(inner, depth - 1)
    elif isinstance(content, list) and all(isinstance(part, str | int) for part in content):
        yield ".".join(map(str, content))  # where something is wrong
    elif depth and isinstance(content, dict | list):
        is_named = isinstance(content, dict)
        parts = [content[k] for k in content if k not in _NO_WORDS] if is_named else content
        for part in parts:
            yield from _list_words(part, depth - 1)


def _to_code(code: Any) -> str | None:
    return code if isinstance(code, str) and code else None


def _to_status(code: Any) -> int | None:
    number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
    is_status = isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600
    return number if is_status else None


def _parse_number(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def _finds(pattern: re.Pattern[str], words: str, given: Collection[str]) -> bool:
    """Tell whether words say something by themselves, and not by what they quote."""
    return any(not _is_quoted(match[0], given) for match in pattern.finditer(words))


def _is_quoted(phrase: str, given: Collection[str]) -> bool:
    lowered = phrase.lower()
    return any(lowered in text.lower() for text in given)
