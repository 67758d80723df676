"""Goals without a model: a suggestion from the open tasks, and advice quoted from the conversations."""

from collections.abc import Mapping
from typing import Any

from shared.adapters.embedded.offline.speech import is_meaningful, split_sentences, split_words

_SOURCE = "Quoted from your own data, because no language model is set up."
_MAX_QUOTED_CHARS = 200


def suggest_goal(data: Mapping[str, Any]) -> dict[str, Any]:
    """Suggest to finish the open tasks; without any, to record every day of a week."""
    tasks, conversations = data["open_tasks"], data["conversations"]
    if tasks:
        noun = "task" if len(tasks) == 1 else "tasks"
        reasoning = f"You have {len(tasks)} open {noun}, among them “{_shorten(tasks[0])}”."
        return _build_suggestion(f"Finish {len(tasks)} open {noun}", len(tasks), reasoning)
    reasoning = f"Of the last conversations, {len(conversations)} are stored. No task is open."
    return _build_suggestion("Record a conversation on seven days", 7, reasoning)


def _build_suggestion(title: str, target: int, reasoning: str) -> dict[str, Any]:
    return {
        "title": title,
        "type": "numeric",
        "target": target,
        "min": 0,
        "max": target,
        "reasoning": f"{reasoning} {_SOURCE}",
    }


def advise(data: Mapping[str, Any]) -> dict[str, Any]:
    """Say how far the goal is, and quote what shares most words with its title."""
    goal = data["goal"]
    state = f"“{goal['title']}” is at {goal['current']:g} of {goal['target']:g}."
    quoted = _find_related(goal["title"], data)
    if quoted is None:
        return {
            "advice": f"{state} Nothing you stored lately mentions it: plan one step for this week."
        }
    return {"advice": f"{state} Start from this: {quoted} {_SOURCE}"}


def _find_related(title: str, data: Mapping[str, Any]) -> str | None:
    """Return the task, memory or sentence with the most words of the title, with its place."""
    wanted = _list_words(title)
    quotes = [
        *((text, "your task") for text in data["open_tasks"]),
        *((text, "your memories") for text in data["memories"]),
        *(
            (text, f"your conversation of {conversation['date']}")
            for conversation in data["conversations"]
            for text in split_sentences(f"{conversation['title']}\n{conversation['overview']}")
        ),
    ]
    if not quotes:
        return None
    text, place = max(quotes, key=lambda quote: len(wanted & _list_words(quote[0])))
    return f"“{_shorten(text)}” ({place})." if wanted & _list_words(text) else None


def _list_words(text: str) -> set[str]:
    return {word.lower() for word in split_words(text) if is_meaningful(word)}


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}…"
