"""Answers of the offline model: cited quotations of what the tools returned; pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from shared.adapters.embedded.offline.last_talk import read_last_talk
from shared.adapters.embedded.offline.planner import (
    asks_who,
    find_person,
    find_task_owner,
    find_task_person,
    is_english,
)
from shared.adapters.embedded.offline.quotes import (
    OWNER_NAMES,
    Quote,
    is_answered,
    quote_passages,
    select_closest,
)
from shared.adapters.embedded.offline.requests import select_requests
from shared.adapters.embedded.offline.results import (
    LIBRARY_TOOLS,
    Result,
    Results,
    collect_documents,
    collect_memories,
    format_day,
    format_overview,
    list_texts,
)
from shared.adapters.embedded.offline.spans import drop_past_span, find_past_phrase
from shared.adapters.embedded.offline.task_lines import TASK_TOOLS, format_tasks
from shared.domain.tasks.owner_words import address_owner
from shared.retrieval.query import asks_when

GREETING = (
    "Hello! I am Keepsake's offline model: I do not write answers of my own, I quote your "
    "conversations and memories, and I understand English only. Ask me what somebody said, what you "
    "have to do, what happened last week, or what I know about you. I write down tasks and memories, "
    "too: “Remind me to call Ann tomorrow.” “Remember that I like green tea.”"
)
CANNOT_ANSWER_GENERAL = (
    "I am Keepsake's offline model: I quote your conversations and memories, and know nothing of the "
    "world beyond them. A language model can answer that, if you set OPENAI_API_KEY."
)
NOTHING_FOUND = (
    "I found nothing about that in your conversations and memories. I look for the words of your "
    "question, so it may help to ask with other words, or to add the conversation first."
)
NEAREST_ONLY = "I found nothing that clearly answers this. What comes nearest:"
FOUND = "Here is what I found:"
SEARCH_DOWN = (
    "I could not search everything just now, so something about that may be missing. Please try "
    "again in a minute."
)
WELCOME = "You're welcome! Ask me again whenever you like."
GOODBYE = "Goodbye! What you told me is kept for next time."
ENGLISH_ONLY = (
    "I am an offline model and answer in English only. I search your library for the words of your "
    "question, and cannot understand it. A language model can, once one is set up in the settings."
)
MANUAL_IS_SILENT = "Keepsake's manual says nothing about that."
PEOPLE = "You talked with {names}:"
OTHERS_TASKS = "Promised by others, or asked of them:"
CONSENT_NEEDED = "I did not do that: it needs your consent."
_CONSENT_PREFIX = "Error: The owner "
"""Begins the reasons why the owner's consent is missing; their words are for models."""
_PAGE = "From the page "
"""Begins each passage of the manual."""
_MAX_OVERVIEWS = 10
_LISTS = frozenset({"get_conversations", "get_memories"})
"""Tools whose results answer without a word of the question."""


def answer(question: str, results: Results, *, zone: tzinfo | None = None) -> str:
    """Answer from what the tools returned: the apps' texts and the sentences closest to the question.

    Days are those of `zone`, the owner's.
    """
    app_parts = [
        _format_result(question, result, zone)
        for result in results
        if result.name not in LIBRARY_TOOLS
    ]
    is_search_down = any(
        result.name in LIBRARY_TOOLS and result.text.startswith("Error: ") for result in results
    )
    quotes = _answer_from_library(question, results)
    parts = [
        *([] if is_english(question) else [ENGLISH_ONLY]),
        *filter(None, app_parts),
        *([] if any(app_parts) and NEAREST_ONLY in quotes else quotes),
        *([SEARCH_DOWN] if is_search_down else []),
    ]
    has_answer = any(part != ENGLISH_ONLY for part in parts)
    return "\n\n".join(parts if has_answer else [*parts, NOTHING_FOUND])


def answer_from_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question from the numbered conversations that stand beside it."""
    documents = [{**each, "document": each["number"]} for each in data["conversations"]]
    found = Result(name="search_conversations", text="", content={"results": documents})
    return {"answer": answer(data["question"], [found])}


def _format_result(question: str, result: Result, zone: tzinfo | None) -> str:
    if result.name in TASK_TOOLS:
        return _format_task_list(question, result.text, zone)
    is_manual = result.name == "get_product_info"
    return _format_manual(result.text) if is_manual else _format_app_text(result.text)


def _format_manual(text: str) -> str:
    """Return the passage that fits best; a model reads some more."""
    if not text.startswith(_PAGE):
        return MANUAL_IS_SILENT
    return text.split(f"\n\n{_PAGE}", 1)[0]


def _format_task_list(question: str, text: str, zone: tzinfo | None) -> str:
    """Write a list of tasks for people; empty where others have none, because quotes follow."""
    tasks = format_tasks(text, zone, person=find_task_person(question))
    if not find_task_owner(question):
        return tasks
    lines = tasks.partition("\n\n")[2]
    return f"{OTHERS_TASKS}\n\n{lines}" if lines else ""


def _format_app_text(text: str) -> str:
    if text.startswith(_CONSENT_PREFIX):
        return CONSENT_NEEDED
    return text.replace("Error: ", "That did not work: ", 1) if text.startswith("Error: ") else text


def _answer_from_library(question: str, results: Results) -> list[str]:
    """Quote what is closest, and add the last talk with whom a question names, or tell it alone."""
    last = read_last_talk(question, results)
    if last is None:
        return _list_people(question, results) or _format_quotes(question, results)
    talk, conversations = last
    if talk.is_topic_found:
        return [*_format_quotes(question, results[:-1]), talk.describe(conversations)]
    return [*([NEAREST_ONLY] if talk.is_nearest else []), talk.describe(conversations)]


def _list_people(question: str, results: Results) -> list[str]:
    """Name whom the owner talked with in a time, unless more is asked for and found."""
    listed = [result for result in results if result.name == "get_conversations"]
    if not (listed and asks_who(question)) or (listed != results and _is_found(question, results)):
        return []
    documents = collect_documents(listed)
    names = _list_speakers(quote_passages(documents))
    heading = PEOPLE.format(names=", ".join(names))
    lines = [f"- {format_day(document)}, {format_overview(document)}" for document in documents]
    return [heading, "\n".join(lines)] if names else []


def _is_found(question: str, results: Results) -> bool:
    """Tell whether an answer is there: what a list has, or enough of what was searched for, in its time."""
    names = [result.name for result in results]
    searches = names.count("search_conversations")
    if searches == 0 and not _LISTS.isdisjoint(names):
        return True
    return searches <= 1 and is_answered(drop_past_span(question), list_texts(results))


def _format_quotes(question: str, results: Results) -> list[str]:
    documents, memories = collect_documents(results), collect_memories(results)
    all_quotes = [*quote_passages(documents), *_quote_memories(memories)]
    asker, requests = select_requests(question, all_quotes)
    quotes = requests or select_closest(question, all_quotes)
    is_found = _is_found(question, results)
    lists = not _LISTS.isdisjoint(result.name for result in results)
    max_overviews = _MAX_OVERVIEWS if lists or is_found else 1
    if requests:
        heading = f"{asker} asked:"
    elif not is_found:
        heading = NEAREST_ONLY
    elif (person := find_person(question)) and documents:
        heading = _describe_person(person, documents)
    elif asks_who(question):
        heading = _name_speakers(quotes, all_quotes)
    else:
        heading = FOUND
    is_of_time = asks_when(question) or find_past_phrase(question)
    days = {d["document"]: format_day(d) for d in documents} if is_of_time else {}
    lines = (
        [_put_day(str(quote), days.get(quote.document)) for quote in quotes]
        or [
            _put_day(format_overview(d), days.get(d["document"])) for d in documents[:max_overviews]
        ]
        or [str(quote) for quote in _quote_memories(memories)]
    )
    return [heading, "\n".join(f"- {line}" for line in lines)] if lines else []


def _put_day(line: str, day: str | None) -> str:
    return f"{day}, {line}" if day else line


def _name_speakers(quotes: Sequence[Quote], all_quotes: Sequence[Quote]) -> str:
    """Name those who speak in the conversations of the closest sentences, other than the owner."""
    documents = {quote.document for quote in quotes}
    names = _list_speakers(quote for quote in all_quotes if quote.document in documents)
    return f"That was with {', '.join(names)}:" if names else FOUND


def _list_speakers(quotes: Iterable[Quote]) -> list[str]:
    speakers = dict.fromkeys(quote.speaker for quote in quotes)
    return [name for name in speakers if name.casefold() not in OWNER_NAMES]


def _describe_person(name: str, documents: Sequence[dict[str, Any]]) -> str:
    """Say in which conversations somebody occurs, and quote below what is closest."""
    titles = [f"“{d['title']}”[{d['document']}]" for d in documents if d.get("title")]
    if not titles:
        return FOUND
    return f"I know {name} from these conversations: {', '.join(titles)}. What was said:"


def _quote_memories(memories: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    for memory in memories:
        yield Quote(text=address_owner(memory["text"]), document=memory.get("document"))
