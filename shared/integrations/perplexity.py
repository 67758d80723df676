"""Perplexity: a search of the web, with a key of ours (P7)."""

from typing import Annotated

from pydantic import Field

from shared.arguments import Arguments
from shared.domain.text import visible
from shared.integrations.service import (
    Account,
    Answer,
    Integration,
    Request,
    ServiceTool,
    line,
)

COMPLETIONS = "https://api.perplexity.ai/chat/completions"
MODEL = "sonar-pro"
MAX_ANSWER = 8_000
MAX_SOURCES = 20


class PerplexityWebSearch(Arguments):
    """Search the web for what is current or not in the owner's library; send nothing private."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]


class _Said(Answer):
    content: str = ""


class _Choice(Answer):
    message: _Said = _Said()


class _Source(Answer):
    title: str = ""
    url: str = ""


class _Completion(Answer):
    choices: tuple[_Choice, ...] = ()
    search_results: tuple[_Source, ...] = ()


async def _search(account: Account, asked: PerplexityWebSearch) -> str:
    body = {"model": MODEL, "messages": [{"role": "user", "content": asked.query}]}
    found = await account.send(Request(method="POST", url=COMPLETIONS, body=body), _Completion)
    said = found.choices[0].message.content if found.choices else ""
    answer = visible(said).strip()[:MAX_ANSWER]
    sources = [
        f"- {line(source.title, 150)} {line(source.url)}"
        for source in found.search_results[:MAX_SOURCES]
    ]
    return "\n".join([answer or "The web search found nothing.", "", "Sources:", *sources])


INTEGRATION = Integration(
    service="perplexity",
    label="Perplexity",
    tools=(
        ServiceTool(
            name="perplexity_web_search",
            status="Searching the web",
            asked=PerplexityWebSearch,
            run=_search,
        ),
    ),
)
