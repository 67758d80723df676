"""Crisis plan: what a person in crisis reads, in reviewed words of ours and from a dated table.

No model writes any of it. Numbers come from `crisis_resources.json` alone, where each row names its
source and the day on which it was read; a person reviews it before production (docs/crisis.md).

Also called: hotline, helpline, suicide prevention.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.value import value
from shared.languages import LANGUAGES, choose_language, translate

MAX_RESOURCES = 5
NOT_ALONE = (
    "I'm glad you told me. What you are going through sounds very hard, and you do not have to go "
    "through it alone."
)
TELL_SOMEBODY = (
    "If anybody is in danger at this moment, call the emergency number of your country now. Please "
    "also tell somebody you trust about it, today, and let them stay with you."
)
GET_HELP_NOW = (
    "Please get help right now: call the emergency number of your country or go to the nearest "
    "emergency department. Stay near other people, and away from anything you could hurt yourself "
    "with."
)
GET_SAFE_NOW = (
    "Please get help right now: call the emergency number of your country or go to the nearest "
    "emergency department. Go where you and everybody around you are safe, and stay near somebody you "
    "trust."
)
THEY_LISTEN = "These people are there for exactly this, and nothing you say will shock them:"
ALL_DAY = "at any hour"
ASK_SAFE = "Are you safe at this moment?"
ASK_COUNTRY = "Which country are you in, so that I can give you a number to call there?"
ASK_GENTLY = (
    "One more thing, because of how you put it: are you having thoughts of hurting yourself?"
)
CONTACTS = "If you or somebody near you may be in danger, these can help: {contacts}."
_EU_MEMBERS = frozenset(
    [
        "AT",
        "BE",
        "BG",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
        "LV",
        "MT",
        "NL",
        "PL",
        "PT",
        "RO",
        "SE",
        "SI",
        "SK",
    ]
)
_WORDS = Path(__file__).with_name("crisis_words")
PLAN_LANGUAGES = ("ar", "it", "nl", "pl", "ru", "tr")
"""Those that have these sentences alone, beside LANGUAGES."""
_TABLE = Path(__file__).with_name("crisis_resources.json")


@value
class CrisisResource:
    """Whom to call; `country` is ISO 3166, EU, or empty for all. `source` is the page that says so.

    `page_date` is the page's own date, `checked` the day on which it was read.
    """

    country: str
    kind: Literal["emergency", "crisis line", "finder"]
    name: str
    contact: str
    source: str
    checked: str
    also: str = ""
    hours: str = ""
    page_date: str = ""


@cache
def load_resources() -> Sequence[CrisisResource]:
    rows = json.loads(_TABLE.read_text(encoding="utf-8"))
    return tuple(CrisisResource(**row) for row in rows)


def list_countries() -> frozenset[str]:
    """Return the countries for which there is a number (ISO 3166)."""
    return frozenset(row.country for row in load_resources()) - {"", "EU"} | _EU_MEMBERS


def list_resources(country: str | None) -> Sequence[CrisisResource]:
    """Return those of a country, and those for every country, at most MAX_RESOURCES."""
    rows = load_resources()
    own = [row for row in rows if country and row.country == country]
    if not own and country in _EU_MEMBERS:
        own = [row for row in rows if row.country == "EU"]
    return (own + [row for row in rows if not row.country])[:MAX_RESOURCES]


def build_plan(verdict: CrisisVerdict, chosen: str | None) -> str:
    """Write the answer to a person in crisis: a step, whom to call, and exactly one question.

    It is in the language of the question, else in the `chosen` one.
    """
    language = _choose_language(verdict.language, chosen)
    get_help = GET_HELP_NOW if verdict.is_self_harm else GET_SAFE_NOW
    resources = list_resources(verdict.country)
    is_placed = any(row.country for row in resources)
    return "\n\n".join(
        [
            _say(NOT_ALONE, language),
            _say(get_help if verdict.level == 3 else TELL_SOMEBODY, language),
            "\n".join([_say(THEY_LISTEN, language), *_list_lines(resources, language)]),
            _say(ASK_SAFE if is_placed else ASK_COUNTRY, language),
        ]
    )


def read_language(plan: str) -> str | None:
    """Return the language in which a plan was written, also behind other words; None for English."""
    return next((name for name, words in _list_beginnings() if words in plan), None)


def cut_plan(answer: str) -> str:
    """Return what of an answer stands before a plan, in whatever language that is."""
    for _, words in _list_beginnings():
        if words in answer:
            return answer.partition(words)[0].rstrip()
    return answer


@cache
def _list_beginnings() -> Sequence[tuple[str | None, str]]:
    """Return how a plan begins, by language; None for English."""
    return [(name, _say(NOT_ALONE, name)) for name in (*LANGUAGES, *PLAN_LANGUAGES, None)]


def build_addition(verdict: CrisisVerdict, chosen: str | None) -> str:
    """Write what an ordinary answer ends with: nothing, a gentle question, or whom to call."""
    language = _choose_language(verdict.language, chosen)
    if verdict.adds_contacts:
        rows = list_resources(verdict.country)
        contacts = ", ".join(f"{row.name} ({row.contact})" for row in rows)
        return _say(CONTACTS, language).format(contacts=contacts)
    return _say(ASK_GENTLY, language) if verdict.level == 1 else ""


def _choose_language(written: str | None, chosen: str | None) -> str | None:
    return written if written in PLAN_LANGUAGES else choose_language(written, chosen)


def _say(text: str, language: str | None) -> str:
    primary = (language or "").replace("_", "-").partition("-")[0].lower()
    return _load_words(primary)[text] if primary in PLAN_LANGUAGES else translate(text, language)


@cache
def _load_words(language: str) -> Mapping[str, str]:
    words: dict[str, str] = json.loads((_WORDS / f"{language}.json").read_text(encoding="utf-8"))
    return words


def _list_lines(resources: Sequence[CrisisResource], language: str | None) -> Iterator[str]:
    for row in resources:
        contact = " · ".join(filter(None, [row.contact, row.also]))
        hours = _say(ALL_DAY, language) if row.hours == "24/7" else row.hours
        yield f"- **{row.name}**: {contact}" + (f" ({hours})" if hours else "")
