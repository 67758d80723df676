"""Names of apps and of their tools: none may look like the product or like what it offers in a chat."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import get_args

from functions.tool_proxy.registry.reserved_names import find_reserved_name
from shared.domain.chats.built_in_names import PRODUCT_NAMES, BuiltInToolName, SlashName
from shared.domain.chats.storage_mode import StorageMode
from shared.domain.errors import Invalid
from shared.integrations import INTEGRATIONS, load_integration

AUTHORITIES = (
    *("Official", "Officiel", "Oficial", "Offiziell", "Offizielle", "Offizielles", "公式", "官方"),
    *(
        "Ufficiale",
        "Officieel",
        "Oficjalny",
        "Официальный",
        "Resmi",
        "Officiell",
        "Officiel",
        "공식",
        "رسمي",
    ),
    *(
        "Verified",
        "Verifiziert",
        "Vérifié",
        "Verificado",
        "Verificato",
        "Geverifieerd",
        "認証済み",
        "已认证",
    ),
    *(
        "Security",
        "Sicherheit",
        "Sécurité",
        "Seguridad",
        "Sicurezza",
        "Segurança",
        "Beveiliging",
        "Bezpieczeństwo",
    ),
    *(
        "Безопасность",
        "Güvenlik",
        "Säkerhet",
        "Sikkerhed",
        "セキュリティ",
        "安全中心",
        "보안",
        "الأمان",
    ),
    *(
        "Support",
        "Kundendienst",
        "Kundenservice",
        "Assistance",
        "Soporte",
        "Assistenza",
        "Suporte",
        "Klantenservice",
    ),
    *(
        "Поддержка",
        "Поддержки",
        "Destek",
        "Kundtjänst",
        "Kundeservice",
        "サポート",
        "客服",
        "고객센터",
        "الدعم",
    ),
    *("Team", "Équipe", "Equipo", "Equipe", "Zespół", "Команда", "Ekibi", "チーム", "团队", "팀"),
    *(
        "System",
        "Admin",
        "Administrator",
        "Administrador",
        "Administrateur",
        "Amministratore",
        "Администратор",
    ),
)
"""Words by which a name speaks for the product, or for whoever made a service."""
PROVIDERS = ("Google",)
"""Who makes services that are not called after them."""
_WORDS = re.compile(r"[^\s_./|:()'’-]+")
_SPACELESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_BORDER = re.compile(
    rf"(?<=[a-z])(?=[A-Z]|[0-9]+(?![^\W_]))|(?<=[A-Za-z])(?=[{_SPACELESS}])|(?<=[{_SPACELESS}])(?=[A-Za-z])"
)
"""Where a word ends without a space: before a capital, and between scripts."""
_MAX_WORDS = 3
"""Of a trusted name, also where one is written as several."""
_LINK_CHARS = 3
"""No longer are the words that only join others: “by”, “the”, “von”."""


def require_unreserved_name(name: str) -> None:
    """Raises Invalid for a name that users would take for one of ours."""
    if reserved := find_trusted_name(name):
        raise Invalid(f"The name looks like {reserved}, which is reserved. Please choose another.")


def find_trusted_name(name: str) -> str | None:
    """Return the name that people would trust in that of an app or its maker, if any."""
    return find_own_name(name) or find_borrowed_trust(name)


def find_borrowed_trust(name: str) -> str | None:
    """Return the trusted name in one that says nothing else, or speaks for it; “Notion Export” says what it does."""
    words = _WORDS.findall(_BORDER.sub(" ", name))
    brands, claims = _find_words(words, _list_brands()), _find_words(words, AUTHORITIES)
    of_product = _find_words(words, PRODUCT_NAMES[:1])
    trusted = {**claims, **brands}
    says_more = any(n not in trusted and len(word) > _LINK_CHARS for n, word in enumerate(words))
    if of_product or (brands and claims) or (trusted and not says_more):
        return next(iter({**brands, **claims}.values()))
    return None


def _find_words(words: Sequence[str], trusted: Sequence[str]) -> Mapping[int, str]:
    """Return which words look like trusted ones, several of them like one of several words."""
    found: dict[int, str] = {}
    for first in range(len(words)):
        for end in range(first + 1, min(first + _MAX_WORDS, len(words)) + 1):
            if name := find_reserved_name(" ".join(words[first:end]), trusted):
                found |= dict.fromkeys(range(first, end), name)
    return found


@cache
def _list_brands() -> tuple[str, ...]:
    labels = (load_integration(service).label for service in INTEGRATIONS)
    return (*PRODUCT_NAMES, *PROVIDERS, *(label for label in labels if len(label) > 1))


def find_own_name(name: str) -> str | None:
    """Return the name of ours that a name looks like, if any."""
    return find_reserved_name(name, list_own_names())


@cache
def list_own_names() -> tuple[str, ...]:
    """Name the product, its services, and the tools, commands and modes of its chats."""
    return (
        *PRODUCT_NAMES,
        *get_args(BuiltInToolName),
        *get_args(SlashName),
        *get_args(StorageMode),
        *_list_service_names(),
    )


def _list_service_names() -> Iterator[str]:
    for service in map(load_integration, INTEGRATIONS):
        yield service.label
        yield from (tool.name for tool in service.tools)
