"""Allowed details as the model reads them: fenced data beside the latest message; pure."""

import json

from functions.chat.consent.allowed_details import Details
from shared import prompts
from shared.domain.models.tokens import estimate_tokens
from shared.domain.provenance import LIBRARY
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible

WINDOW_SHARE = 8
"""Of a small window, no more than this part."""


def build_details_text(details: Details, window_tokens: int) -> str:
    """Return what the owner allowed to read, as far as the window takes it; empty where that is nothing."""
    room, known = window_tokens // WINDOW_SHARE, dict[str, list[str]]()
    for key, texts in details.items():
        for text in texts:
            room -= estimate_tokens(text)
            if room >= 0:
                known.setdefault(key, []).append(text)
    if not known:
        return ""
    data = strip_invisible(json.dumps(known, ensure_ascii=False))
    return prompts.render("chat/allowed_details", details=fence_untrusted(data, LIBRARY))
