"""Broken links: what an answer links to is looked up, and a search stands where a page is gone.

Also called: dead links.
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from functions.chat import user_texts
from functions.chat.context.links import build_search_link, replace_links
from functions.chat.context.model_words import select_model_words
from functions.chat.deps import AfterTurnDeps
from functions.chat.loop.tool_policy import WEB_PAGES
from shared import telemetry
from shared.domain.chats.chat import LinkChoice, Message
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import UserId
from shared.languages import translate


async def replace_broken_links(
    deps: AfterTurnDeps, uid: UserId, answer: Message, language: str | None
) -> Message | None:
    """Return an answer without links that lead nowhere; None where all of them hold.

    They are looked up once, however often it is called. A check that fails changes nothing: whoever
    follows a link sees that for themselves.
    """
    links = answer.links
    if links is None or deps.link_checker is None or not await _may_look_up(deps, uid, answer):
        return None
    try:
        broken = await deps.link_checker.find_broken(links.urls)
    except Unavailable as error:
        telemetry.warning("links_not_checked", error=type(error).__name__)
        return None
    telemetry.add_fields(links=len(links.urls), broken_links=len(broken))
    if not broken:
        await _mark_checked(deps, uid, answer, links)
        return None
    write = partial(build_search_link, label=translate(user_texts.SEARCH_FOR, language))
    return replace(
        answer,
        marked_text=replace_links(answer.marked_text or answer.text, broken, write),
        model_text=replace_links(select_model_words(answer), broken, write),
    )


async def _may_look_up(deps: AfterTurnDeps, uid: UserId, answer: Message) -> bool:
    """Count what the look-up tells, in the ledger of the day's calls that nobody was asked about."""
    from functions.chat.consent.disclosure import DAY_BUDGET_BITS

    return await deps.stores.disclosure_ledger.spend_on_links(
        uid, answer.id, WEB_PAGES, limit=DAY_BUDGET_BITS, now=deps.clock.now()
    )


async def _mark_checked(
    deps: AfterTurnDeps, uid: UserId, answer: Message, links: LinkChoice
) -> None:
    """Remember that links hold; what replaces broken ones is the mark of those."""
    with suppress(NotFound):
        checked = replace(links, state="checked")
        await deps.stores.messages.change_links(uid, answer.id, checked)
