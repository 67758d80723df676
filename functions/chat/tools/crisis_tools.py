"""Crisis tool of a voice session: whom a person in danger can call, from our table alone."""

from typing import Annotated

from pydantic import Field

from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments
from shared.safety.crisis_plan import list_resources

NO_NUMBERS = "There is no checked number for this country. Say so, and name the emergency number of their country in these words, without a number."


class FindCrisisContacts(Arguments):
    """Find whom somebody can call who may hurt themself. Call it at once then; never say a number of your own."""

    country: Annotated[
        str,
        Field(
            pattern="^([A-Z]{2})?$",
            description="The country that the person said they are in, in two letters; empty if they did not say.",
        ),
    ] = ""


def build_crisis_tools() -> list[Tool]:
    return [
        build_builtin_tool(
            "find_crisis_contacts",
            "Looking for somebody to call",
            FindCrisisContacts,
            _find_contacts,
            tool_class="read",
        )
    ]


async def _find_contacts(arguments: FindCrisisContacts) -> ResultRenderer:
    rows = list_resources(arguments.country or None)
    lines = [f"{row.name}: {row.contact} {row.also} {row.hours}".rstrip() for row in rows]
    if not any(row.country for row in rows):
        lines.append(NO_NUMBERS if arguments.country else "Ask which country they are in.")
    text = "\n".join(lines)
    return OwnResult(text=text, shown_text=text)
