"""Untrusted text: sanitize what strangers' servers write, before a model or a person reads it.

An answer of an app may hold secrets by mistake: its tokens, a stack trace, an environment. They are
removed from answers and errors alike, by their form.

Also called: sanitization.
"""

import re
from typing import Any

from pydantic_core import from_json

from shared.domain.apps.tool_data import is_deep, to_compact_json
from shared.security.secrets import redact_secrets
from shared.security.visible_text import strip_invisible

MAX_RESULT_CHARS = 20_000
_MAX_REASON_CHARS = 200
_MAX_SCANNED_CHARS = 2_000
"""A reason is cut before any pattern runs over it."""
_REMOVED = "[removed]"
_BEARER = re.compile(r"Bearer\s{1,9}\S+", re.IGNORECASE)
_BREAK = r"(?:\r?\n|\\r\\n|\\n)"
_REST = r"(?:(?!\\n)[^\r\n]){0,400}"
"""The rest of a line, also where line breaks are escaped as in JSON."""
_STACK_TRACE = re.compile(
    rf"Traceback \(most recent call last\):(?:{_BREAK}[ \t]+{_REST})*"
    rf"|(?:(?<![^\n])|(?<=\\n))(?:[ \t]|\\t){{0,40}}(?:"
    r"File \\?\"[^\"\n]{1,300}\", line \d"
    r"|at (?=(?:(?!\\n)[^\n]){1,300}(?::\d|:line \d|\((?:Native|Unknown|<anonymous>)))"
    r"|from /[^\s:]{1,300}:\d"
    r"|#\d{1,4} +/[^\s(]{1,300}\(\d"
    r"|/[^\s:]{1,300}\.go:\d"
    r"|goroutine \d{1,9} \["
    rf"){_REST}",
)
_SERVER_PATH = re.compile(
    r"(?<![\w.:/])(?:"
    r"/(?:app|build|code|etc|home|mnt|opt|private|proc|root|run|srv|tmp|usr|var|workspace|Users)"
    r"(?:/[\w.@+-]{1,100}){1,20}|[A-Za-z]:\\[^\s\"'<>]{1,300})(?::\d{1,9}){0,2}"
)
_MARKUP_OR_TRACE = re.compile(r"<|Traceback \(most recent call last\)|at \S{1,300}\(")
_ERROR_PREFIX = re.compile(r"\A(?:error\s{0,9}:\s{0,9}){1,9}", re.IGNORECASE)


def sanitize_result(text: str) -> str:
    """Return at most MAX_RESULT_CHARS without secrets, stack traces and invisible characters."""
    visible_text = _make_visible(text[: 2 * MAX_RESULT_CHARS])
    return redact_secrets(_STACK_TRACE.sub(_REMOVED, visible_text))[:MAX_RESULT_CHARS]


def sanitize_content(content: Any) -> Any:
    """Return an answer as sanitize_result() leaves it: as data, or else as text.

    An object or a list that is too long or too deep, or no JSON any more without what is removed, is text.
    """
    if isinstance(content, str):
        return sanitize_result(content)
    text = sanitize_result(to_compact_json(content))
    if not isinstance(content, dict | list):
        return text
    try:
        data = from_json(text, allow_inf_nan=False)
    except ValueError:
        return text
    return text if is_deep(data) else data


def sanitize_error(text: str) -> str:
    """Return the text of an error without what sanitize_result removes and paths of a server.

    It does not begin with "Error:", so that whoever relays it may put that in front.
    """
    error = _SERVER_PATH.sub(_REMOVED, sanitize_result(text)).strip()
    return _ERROR_PREFIX.sub("", error)


def sanitize_reason(text: str) -> str:
    """Return the first line, shortened and without secrets; nothing of markup or a stack trace."""
    line = next(iter(text.strip()[:_MAX_SCANNED_CHARS].splitlines()), "")
    if _MARKUP_OR_TRACE.match(line):
        return ""
    return sanitize_error(_BEARER.sub(_REMOVED, line))[:_MAX_REASON_CHARS]


def _make_visible(text: str) -> str:
    """Strip invisible characters, and replace lone surrogates, which UTF-8 cannot encode."""
    return strip_invisible(text.encode(errors="replace").decode())
