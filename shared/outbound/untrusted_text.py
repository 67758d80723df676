"""Untrusted text: sanitize what strangers' servers write, before a model or a person reads it."""

import re

from shared.security.visible_text import strip_invisible

_MAX_REASON_CHARS = 200
_MAX_SCANNED_CHARS = 2_000
"""A stranger's text is cut before any pattern runs over it: some take quadratic time."""
_SECRETS = re.compile(
    r"Bearer\s+\S+|\b(sk|pk|whsec|ghp|gho|xox[abp])[_-][\w+/=-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*",
    re.IGNORECASE,
)
_MARKUP_OR_TRACE = re.compile(r"<|Traceback \(most recent call last\)|at \S+\(")


def sanitize_text(text: str) -> str:
    """Strip invisible characters, and replace lone surrogates, which UTF-8 cannot encode."""
    return strip_invisible(text.encode(errors="replace").decode())


def sanitize_reason(text: str) -> str:
    """Return the first line, shortened and without secrets; nothing of markup or a stack trace."""
    line = next(iter(text.strip()[:_MAX_SCANNED_CHARS].splitlines()), "")
    if _MARKUP_OR_TRACE.match(line):
        return ""
    return _SECRETS.sub("[removed]", line)[:_MAX_REASON_CHARS]
