"""Perplexity: a web search tool, called with our own API key."""

import re
from typing import Annotated

from pydantic import Field

from shared.arguments import Arguments
from shared.domain.apps.tool_data import ToolData
from shared.integrations.service import (
    Account,
    Integration,
    ServiceRequest,
    ServiceResponse,
    ServiceTool,
    to_one_line,
)
from shared.security.visible_text import strip_invisible

COMPLETIONS = "https://api.perplexity.ai/chat/completions"
MODEL = "sonar-pro"
MAX_ANSWER_CHARS = 8_000
MAX_SOURCES = 20
_REFERENCE = re.compile(r" ?\[[0-9]{1,3}(?:, ?[0-9]{1,3})*\](?!\()")
"""Its numbers of its sources: the model would repeat them, and ours of other documents look the same."""


class PerplexityWebSearch(Arguments):
    """Search the web for what is current or not in the owner's library; send nothing private."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]


class _ChoiceMessage(ServiceResponse):
    content: str = ""


class _CompletionChoice(ServiceResponse):
    message: _ChoiceMessage = _ChoiceMessage()


class _Source(ServiceResponse):
    title: str = ""
    url: str = ""
    date: str | None = None
    snippet: str | None = None


class _Completion(ServiceResponse):
    choices: tuple[_CompletionChoice, ...] = ()
    search_results: tuple[_Source, ...] = ()


async def _search(account: Account, arguments: PerplexityWebSearch) -> str | ToolData:
    body = {"model": MODEL, "messages": [{"role": "user", "content": arguments.query}]}
    completion = await account.send(
        ServiceRequest(method="POST", url=COMPLETIONS, body=body), _Completion
    )
    text = completion.choices[0].message.content if completion.choices else ""
    answer = _REFERENCE.sub("", strip_invisible(text)).strip()[:MAX_ANSWER_CHARS]
    sources = [
        {
            "title": to_one_line(source.title, 150),
            "url": to_one_line(source.url),
            "date": to_one_line(source.date, 20),
            "snippet": to_one_line(source.snippet),
        }
        for source in completion.search_results[:MAX_SOURCES]
    ]
    listed = [f"- {source['title']} {source['url']}" for source in sources]
    text = "\n".join([answer or "The web search found nothing.", "", "Sources:", *listed])
    if not answer or not sources:
        return text
    return ToolData(
        content={"answer": answer, "sources": sources},
        entry_type="website",
        hidden_fields=("date", "snippet"),
        shown_text=text,
    )


INTEGRATION = Integration(
    service="perplexity",
    label="Perplexity",
    tools=(
        ServiceTool("perplexity_web_search", "Searching the web", PerplexityWebSearch, _search),
    ),
)
