"""Tool policy of a turn, the defence against prompt injection: which calls run, and which ask first.

The class of a tool and the owner's grants decide, never the words of a message. Calls of reading
tools run without a question as long as they tell little that the owner did not say themselves.

Also called: least privilege.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from math import inf, log2
from threading import Lock
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from functions.chat.consent.link_choice import choose_links
from functions.chat.consent.own_words import list_texts
from functions.chat.consent.taint import Taint
from functions.chat.context.earlier_results import NO_RESULTS, EarlierResults
from functions.chat.context.links import list_links
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import Tool, ToolOutcome
from shared.domain.apps.app import App
from shared.domain.chats.chat import LinkChoice, Message, Session
from shared.domain.chats.confirmation import ConfirmationReason
from shared.domain.value import value
from shared.security.link_filter import extract_urls
from shared.security.secrets import find_secrets

if TYPE_CHECKING:
    from functions.chat.consent.known_text import KnownText
    from functions.chat.consent.private_copies import ReadTexts

WEB_SEARCH = "service perplexity"
"""The maker that the operator or the owner chose to search the web with."""
WEB_PAGES = "service web"
"""Whoever serves the address of a page: what a search of the web returned is no secret to them."""
SERVICE_BITS = 14.0
"""What the services' tools that a turn offers may tell of their owner, whatever a call says: one bit for each that there is."""
MAX_DERIVATIONS = 2
"""Calls of a maker in one turn whose arguments are written anew."""


@value
class Verdict:
    """What becomes of a call: it runs as `call`, unless the owner is asked first for a `reason`.

    `bits` is what it tells its maker without a question, in a turn that `is_clean` or not.
    """

    call: ParsedCall
    reason: ConfirmationReason | None = None
    bits: float = 0.0
    is_clean: bool = False


class ToolPolicy:
    """Judges calls, and learns every result that the model reads.

    `given_texts` are what the model was given beside the owner's message, `own_texts` those of them
    that the owner wrote. `is_own_message` says that the message is their own word, and `is_message_alone`
    that the model was given nothing else of them. `makers` are those of the tools of others that it is offered, which
    tell what their owner uses, `services` those of them that are ours to list. `own_words_only` says that all of it is ours or the owner's own
    words, and `taint` what kinds of words of others stand in it, be it but what the library holds.
    `earlier_results` are what it was given of earlier turns, each with the maker that returned it, '' for
    one that has no tool here. `local_time` is the owner's.
    """

    def __init__(
        self,
        user_text: str,
        *,
        given_texts: Sequence[str] = (),
        own_texts: Sequence[str] = (),
        earlier_results: Sequence[tuple[str, str]] = (),
        is_own_message: bool = True,
        is_message_alone: bool = False,
        makers: Collection[str] = (),
        services: Collection[str] = (),
        own_words_only: bool = True,
        taint: Taint | None = None,
        local_time: datetime,
    ) -> None:
        self.taint = taint or Taint([user_text])
        self._user_text = user_text
        self._given_texts = given_texts
        self._own_texts = own_texts
        self._is_own_message = is_own_message
        self._is_message_alone = is_message_alone
        self._makers = frozenset(makers)
        self._services = frozenset(services)
        self._own_words_only = own_words_only
        self._local_time = local_time
        self._earlier_results = earlier_results
        self._results: list[tuple[str, str]] = [*earlier_results]
        self._bits_by_maker: dict[str, float] = {}
        self._counting = Lock()
        self._derivations: Counter[str] = Counter()
        self._known_texts: dict[str, KnownText] = {}
        self._private_texts: dict[str, ReadTexts] = {}
        self._read_texts: dict[str, ReadTexts] = {}
        self._urls_by_text: dict[str, Collection[str]] = {}

    def build_sibling(self) -> "ToolPolicy":
        """Return the policy of another model of the turn, which reads the same before its first call.

        What a maker is told counts for all of them together.
        """
        sibling = ToolPolicy(
            self._user_text,
            given_texts=self._given_texts,
            own_texts=self._own_texts,
            earlier_results=self._earlier_results,
            is_own_message=self._is_own_message,
            is_message_alone=self._is_message_alone,
            makers=self._makers,
            services=self._services,
            own_words_only=self._own_words_only,
            taint=self.taint,
            local_time=self._local_time,
        )
        sibling._bits_by_maker, sibling._counting = self._bits_by_maker, self._counting
        sibling._derivations = self._derivations
        return sibling

    def record_results(self, tools: Sequence[Tool | None], outcomes: Sequence[ToolOutcome]) -> None:
        """Record what the model reads next; each outcome is of the tool at its position.

        A failure is nothing that a maker returned: our texts of it may quote the call.
        """
        for tool, outcome in zip(tools, outcomes, strict=True):
            if tool is not None and outcome.source is not None:
                self._is_message_alone = False
                self._own_words_only = False
                self.taint.add(tool.text_kind)
                maker = "" if outcome.failed else tool.maker
                self._results.append((maker, outcome.values_text))
                self._known_texts.pop(maker, None)
                self._known_texts.pop(WEB_PAGES, None)
                for other_maker, private_texts in self._private_texts.items():
                    if not _is_known_to(other_maker, maker):
                        private_texts.include(self._index(outcome.values_text))

    async def judge(self, tool: Tool | None, call: ParsedCall) -> Verdict:
        """Return what becomes of a call. What cannot run anyway needs no question."""
        if tool is None or call.arguments is None:
            return Verdict(call=call)
        if reason := _find_reason(tool, call.arguments):
            return Verdict(call=call, reason=reason)
        if await self._writes_foreign_words(tool, call.arguments):
            return Verdict(call=call, reason="foreign_words")
        if not tool.maker or tool.always_allowed or self._is_free_search(tool):
            return Verdict(call=call)
        return await to_thread.run_sync(  # it reads tables
            self._judge_disclosure, tool, call, call.arguments
        )

    async def _writes_foreign_words(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Tell whether a call would write into the library what its owner did not say, once others were read."""
        if tool.maker or tool.tool_class != "write":
            return False
        return bool(await self.taint.find_kinds(*list_texts(arguments, tool.spec.parameters)))

    def list_returned(self, maker: str) -> list[str]:
        """Return what a maker returned in what the model was given, the oldest first."""
        return [text for source, text in self._results if maker and source == maker]

    def is_known_url(self, url: str) -> bool:
        """Tell whether an address stands in the owner's messages or in a result of this turn."""
        texts = (self._user_text, *self._own_texts, *(text for _, text in self._results))
        return any(url in text and url in self._extract_urls(text) for text in texts)

    def choose_links(self, text: str) -> LinkChoice | None:
        """Choose which links of an answer may be looked up: of those that the web itself named.

        An address from a mail, an app or the owner's own words may be a secret, or work only once.
        """
        found = {
            url
            for maker, result in self._results
            if maker in (WEB_SEARCH, WEB_PAGES)
            for url in self._extract_urls(result)
        }
        if not found:
            return None
        from functions.chat.consent.disclosure import TURN_BUDGET_BITS

        shown = [url for url in list_links(text) if url in found]
        spent = self._bits_by_maker.get(WEB_PAGES, 0.0)
        return choose_links(shown, found, TURN_BUDGET_BITS - spent)

    def _extract_urls(self, text: str) -> Collection[str]:
        """Extract the addresses of a text once: an answer may repeat hundreds of them."""
        if text not in self._urls_by_text:
            self._urls_by_text[text] = extract_urls(text)
        return self._urls_by_text[text]

    def _is_clean(self, maker: str) -> bool:
        """Tell whether no call could tell a maker anything: the model knows this message and the maker's own tools."""
        return self._tells_services_alone(maker) and self._makers <= {maker}

    def _tells_services_alone(self, maker: str) -> bool:
        """Tell whether a call could tell a maker at most which of our services' tools are offered: SERVICE_BITS."""
        is_message_alone = self._is_message_alone and self._is_own_message
        return is_message_alone and self._makers - self._services <= {maker}

    def _judge_disclosure(self, tool: Tool, call: ParsedCall, arguments: Any) -> Verdict:
        """Let a reading call run in its canonical form, within what its maker may be told."""
        from functions.chat.consent.disclosure import (
            CLEAN_DAY_BUDGET_BITS,
            TURN_BUDGET_BITS,
            measure_disclosure,
        )

        is_clean, is_bounded = self._is_clean(tool.maker), self._tells_services_alone(tool.maker)
        spent = self._bits_by_maker.get(tool.maker, 0.0)
        known = self._get_known_text(tool.maker)
        measured = measure_disclosure(
            arguments,
            tool.spec.parameters,
            known,
            tools=tool.maker_tools,
            limit=CLEAN_DAY_BUDGET_BITS if is_bounded else TURN_BUDGET_BITS - spent,
        )
        if self._tells_private_text(tool.maker, measured.arguments, known):
            return Verdict(call=call, reason="private_text")
        if measured.bits == inf:
            return Verdict(call=call, reason="disclosure")
        bits = min(measured.bits, SERVICE_BITS) if is_bounded and not is_clean else measured.bits
        if not is_clean and not self._count(tool.maker, bits):
            return Verdict(call=call, reason="disclosure")
        call = replace(call, arguments=measured.arguments)
        return Verdict(call=call, bits=bits, is_clean=is_clean)

    def _tells_private_text(
        self, maker: str, arguments: Mapping[str, Any], known: "KnownText"
    ) -> bool:
        from functions.chat.consent.private_copies import (
            contains_unsaid_secret,
            copies_private_text,
        )

        if self._tells_services_alone(maker):
            return contains_unsaid_secret(arguments, known)
        return copies_private_text(arguments, known, self._get_private_texts(maker))

    def admit_derivation(self, tool: Tool) -> bool:
        """Tell whether the message alone may give a call's arguments anew, and count it: a maker has few in a turn."""
        from functions.chat.consent.disclosure import TURN_BUDGET_BITS

        bits = self._bits_by_maker.get(tool.maker, 0.0) + _measure_derived(tool)
        if not self._is_own_message or self._holds_secret or bits > TURN_BUDGET_BITS:
            return False
        self._derivations[tool.maker] += 1
        return self._derivations[tool.maker] <= MAX_DERIVATIONS

    def judge_derived(self, tool: Tool, call: ParsedCall) -> Verdict:
        """Let a call run whose arguments the message alone gave: it tells which tool was called, and that."""
        bits = _measure_derived(tool)
        if not self._count(tool.maker, bits):
            return Verdict(call=call, reason="disclosure")
        return Verdict(call=call, bits=bits)

    def _count(self, maker: str, bits: float) -> bool:
        """Count what a maker is told, unless that is too much by now: siblings are asked in threads of their own."""
        from functions.chat.consent.disclosure import TURN_BUDGET_BITS

        with self._counting:
            told = self._bits_by_maker.get(maker, 0.0) + bits
            if told > TURN_BUDGET_BITS:
                return False
            self._bits_by_maker[maker] = told
        return True

    @cached_property
    def _holds_secret(self) -> bool:
        return any(find_secrets(self._user_text))

    def _get_known_text(self, maker: str) -> "KnownText":
        """Return what a maker knows: the owner's message, and what it returned itself."""
        from functions.chat.consent.known_text import KnownText

        if maker not in self._known_texts:
            self._known_texts[maker] = KnownText(
                message=self._user_text,
                returned=[text for source, text in self._results if _is_known_to(maker, source)],
                now=self._local_time,
            )
        return self._known_texts[maker]

    def _get_private_texts(self, maker: str) -> "ReadTexts":
        """Return what the model read of others than this maker."""
        from functions.chat.consent.private_copies import ReadTexts

        if maker not in self._private_texts:
            others = ReadTexts()
            texts = [text for source, text in self._results if not _is_known_to(maker, source)]
            for text in (*self._given_texts, *texts):
                others.include(self._index(text))
            self._private_texts[maker] = others
        return self._private_texts[maker]

    def _index(self, text: str) -> "ReadTexts":
        """Index a text once in a turn, for all makers: a long one takes a tenth of a second."""
        from functions.chat.consent.private_copies import ReadTexts

        if text not in self._read_texts:
            self._read_texts[text] = ReadTexts([text])
        return self._read_texts[text]

    def _is_free_search(self, tool: Tool) -> bool:
        return tool.maker == WEB_SEARCH and self._own_words_only


def _measure_derived(tool: Tool) -> float:
    return 1 + log2(max(tool.maker_tools, 1))


def _is_known_to(maker: str, source: str) -> bool:
    """Tell whether a maker may be told what a source returned: which of all of it counts."""
    return source == maker or (maker == WEB_PAGES and source == WEB_SEARCH)


def _find_reason(tool: Tool, arguments: Any) -> ConfirmationReason | None:
    """Return why a call asks whatever it tells."""
    if tool.standing != "known":
        return "new_tool" if tool.standing == "new" else "changed_tool"
    if tool.is_sensitive(arguments):
        return "sensitive"
    is_change = tool.tool_class == "write" and bool(tool.maker)
    return "first_use" if is_change and not tool.always_allowed else None


def build_tool_policy(
    user_text: str,
    *,
    history: Sequence[Message],
    session: Session,
    app: App | None,
    tools: Collection[Tool],
    taint: Taint | None = None,
    results: EarlierResults = NO_RESULTS,
    own_blocks: Sequence[str] = (),
    foreign_blocks: Sequence[str] = (),
    is_own_message: bool = True,
    is_message_alone: bool = False,
    local_time: datetime,
) -> ToolPolicy:
    """Build the policy of a turn from what its model is given.

    `own_blocks` are texts of the owner beside the messages, such as their chat prompt, and
    `foreign_blocks` those of others, such as an agent that somebody else wrote.
    """
    return ToolPolicy(
        user_text,
        given_texts=[
            session.summary,
            *own_blocks,
            *foreign_blocks,
            *(message.text for message in history),
        ],
        own_texts=[*own_blocks, *(message.text for message in history if message.is_owners)],
        earlier_results=_list_by_maker(results, tools),
        is_own_message=is_own_message,
        is_message_alone=is_message_alone,
        makers={tool.maker for tool in tools if tool.maker} - {WEB_SEARCH, WEB_PAGES},
        services={tool.maker for tool in tools if tool.source.kind == "service"},
        own_words_only=app is None
        and all(tool.source.kind != "app" for tool in tools)
        and not session.summary
        and not foreign_blocks
        and len(history) >= session.message_count
        and not any(_holds_words_of_others(history)),
        taint=taint,
        local_time=local_time,
    )


def _list_by_maker(results: EarlierResults, tools: Collection[Tool]) -> list[tuple[str, str]]:
    makers = {tool.source.key: tool.maker for tool in tools}
    given = results.by_embed.values()
    return [(makers.get(result.source.key, ""), result.values_text) for result in given]


def _holds_words_of_others(history: Iterable[Message]) -> Iterable[bool]:
    for message in history:
        yield (
            message.from_integration or message.is_imported or bool(message.metadata.get("sources"))
        )
