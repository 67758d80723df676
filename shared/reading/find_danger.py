"""Danger in a text: what rules and examples find in it, before or without a model."""

from dataclasses import replace
from functools import partial
from typing import Protocol

from anyio import to_thread

from shared.data.search.question_meaning import QuestionMeanings, read_in_time
from shared.domain.ids import UserId
from shared.ports import Models
from shared.reading.countries import find_country
from shared.reading.crisis_rules import CrisisFinding, find_crisis
from shared.reading.crisis_verdict import add_danger
from shared.safety.crisis_plan import list_countries


class DangerDeps(Protocol):
    """The part of an entry point's dependencies that looking for danger needs."""

    @property
    def model(self) -> Models: ...
    @property
    def meanings(self) -> QuestionMeanings: ...


async def find_danger(deps: DangerDeps, uid: UserId, text: str) -> CrisisFinding:
    """Return what rules find, or examples where they are compared in time."""
    is_alone = deps.model.describe("fast").is_extractive
    meaning = await read_in_time(deps.meanings.read(uid, text), is_alone=is_alone)
    return await find_place(add_danger(find_crisis(text), meaning), text, None)


async def find_place(finding: CrisisFinding, text: str, language: str | None) -> CrisisFinding:
    """Add the country that a text names in which something was found; `language` is that of its writer."""
    if finding.certainty == "clear":
        return finding
    find = partial(find_country, text, list_countries(), finding.language or language)
    return replace(finding, country=await to_thread.run_sync(find))  # it reads names from files
