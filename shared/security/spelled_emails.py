"""E-mail addresses that are written out: `anna [at] example.com`, `anna dot meyer at example dot com`.

Also called: address munging.
"""

import re
from collections.abc import Iterator
from typing import Final

_AT_WORD: Final = r"(?:at|at[ -]sign|@|arroba|arobase|chiocciola|ät|apenstaartje|małpa|собака)"
_DOT_WORD: Final = r"(?:dot|punkt|punto|point|ponto|punt|kropka|nokta|точка)"
_AT: Final = re.compile(
    rf"[\[({{ \n@](?:(?P<marked>(?<=[\[({{])\s?(?i:{_AT_WORD})\s?[\])}}]\s?)|(?<=[ \n])(?i:{_AT_WORD})\s(?=\w)|(?<=@)(?=\w))"
)
_MARKED_DOT: Final = rf"\s?[\[({{]\s?(?:\.|{_DOT_WORD})\s?[\])}}]\s?|\s{_DOT_WORD}\s"
_TOP: Final = (
    r"(?:com|org|net|edu|gov|info|io|me|app|dev|co|eu|de|at|ch|fr|be|nl|es|pt|it|uk|ie|pl|cz|se|no|dk|fi|ru|ua|tr"
    r"|us|ca|mx|br|ar|in|jp|cn|kr|tw|au|nz|za|example)(?![^\W_])"
)
_LABEL: Final = r"[^\W_][\w-]{0,62}"
_DOMAIN: Final = re.compile(rf"(?i)(?:{_LABEL}(?:{_MARKED_DOT})){{1,4}}{_TOP}")
_MARKED_DOMAIN: Final = re.compile(rf"(?i)(?:{_LABEL}?(?:\.|{_MARKED_DOT})){{1,4}}{_TOP}")
_LOCAL: Final = re.compile(rf"(?i)(?<![\w.+-])\w[\w.+-]*(?:(?:{_MARKED_DOT})[\w.+-]+){{0,3}} ?\Z")
_MAX_LOCAL_CHARS: Final = 80


def find_spelled_emails(text: str) -> Iterator[tuple[int, int]]:
    for at in _AT.finditer(text):
        domain = (_MARKED_DOMAIN if at["marked"] else _DOMAIN).match(text, at.end())
        if domain is None:
            continue
        first = max(at.start() - _MAX_LOCAL_CHARS, 0)
        local = _LOCAL.search(text[first : at.start()])
        if local:
            yield first + local.start(), domain.end()
