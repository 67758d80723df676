"""Fencing of untrusted text: what others wrote is marked as data, never as instructions.

A defence against prompt injection.

Also called: spotlighting, delimiters.
"""

import re
from html import escape

from shared.domain.provenance import Source
from shared.security.visible_text import strip_invisible

_FENCE_TAG = re.compile(r"<(?=\s*/?\s*data)", re.IGNORECASE)


def fence_untrusted(text: str, source: Source) -> str:
    """Wrap `text` in a data fence that names its source; nothing in the text can close the fence."""
    source_label = escape(" ".join(strip_invisible(str(source)).split()))
    return f'<data from="{source_label}">\n{_FENCE_TAG.sub("‹", text)}\n</data>'
