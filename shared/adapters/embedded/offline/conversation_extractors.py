"""Extractors of conversations: what answers the prompts of their processing."""

from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.embedded.offline import answers, goals
from shared.adapters.embedded.offline.discard import discard
from shared.adapters.embedded.offline.memories import extract_memories, find_text_facts
from shared.adapters.embedded.offline.recaps import extract_recap
from shared.adapters.embedded.offline.structure import extract_structure
from shared.adapters.embedded.offline.tasks import read_talk
from shared.adapters.embedded.offline.templates import apply_template


def _extract(data: Mapping[str, Any]) -> dict[str, Any]:
    talk = read_talk(data)
    return {
        "structure": extract_structure(talk, data.get("meanings", {})),
        "memories": extract_memories(talk.sentences),
    }


EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "process_conversation/discard": discard,
    "process_conversation/extraction": _extract,
    "process_conversation/goal_suggestion": goals.suggest_goal,
    "process_conversation/goal_advice": goals.advise,
    "process_conversation/daily_summary": extract_recap,
    "process_conversation/template": apply_template,
    "process_conversation/text_facts": find_text_facts,
    "process_conversation/answer": answers.answer_from_data,
}
