"""Allowed details as the model reads them: fenced data beside the latest message; pure."""

import json

from shared import prompts
from shared.domain.provenance import LIBRARY
from shared.library.allowed_details import Details
from shared.security.fencing import fence_untrusted
from shared.security.visible_text import strip_invisible


def build_details_text(details: Details) -> str:
    """Return what the owner allowed to read; empty where that is nothing."""
    known = {key: texts for key, texts in details.items() if texts}
    if not known:
        return ""
    data = strip_invisible(json.dumps(known, ensure_ascii=False))
    return prompts.render("chat/allowed_details", details=fence_untrusted(data, LIBRARY))
