"""Notes on a model in words for people: what its server refuses, what is odd in its answers, what follows.

Each is of one thing that requests and answers were adapted to, so nothing has to be done about it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from shared.models.known_models import KnownModel, Quirk, Step

STEP_NOTES: Mapping[Step, str] = {
    "plain_schemas": "It refuses bounds, formats or patterns in schemas (its grammar does not take them): "
    "they are left out, and answers are checked here.",
    "json_object": "It takes no JSON schema: it is asked for JSON, and the schema stands in the prompt.",
    "text_answers": "It takes neither a JSON schema nor a JSON mode: the schema stands in the prompt, and "
    "the JSON is found in what it writes.",
    "no_usage": "It refuses stream_options: how many tokens an answer took is not known.",
    "no_effort": "It refuses reasoning_effort: it may reason before it answers, which takes longer.",
    "no_cache_marks": "It refuses marks of what its cache shall keep.",
    "other_bound": "It calls the bound of an answer by its other name (max_tokens, max_completion_tokens).",
    "no_bound": "It refuses a bound of its answers: only the timeouts here end one that runs on.",
    "one_system_text": "It takes one system message at the beginning: all our instructions stand in it.",
    "no_system_role": "It refuses the system role: our instructions stand in the first message.",
    "reminder_in_result": "It refuses a user's message after a tool's result: our reminders stand in the "
    "result.",
    "alternating": "It wants the roles to alternate: messages that follow one another are joined.",
    "single_calls": "It takes one tool call at a time: several are told one after the other.",
    "short_ids": "It takes short ids of tool calls alone: they are shortened.",
    "text_content": "It takes messages as text alone, and none that is empty.",
    "no_reasoning_back": "It refuses to be given its own reasoning: it is left out.",
    "filled_reasoning": "It wants its reasoning in each message of its own: a note stands where there is "
    "none.",
    "no_pictures": "It takes no pictures: it is told that there is one.",
    "calls_as_text": "It takes no messages of tools: calls and results are told in words.",
    "no_tools": "It takes no tools: it answers from what is found beside a question, and cannot search "
    "further, note anything or use apps.",
}
QUIRK_NOTES: Mapping[Quirk, str] = {
    "tagged_thoughts": "It writes its thoughts into its answers, between think tags: they are shown as "
    "reasoning, apart from the answer.",
    "written_calls": "It writes tool calls as text: they are made all the same.",
    "no_finish": "It does not say that an answer is finished (no finish_reason): one that breaks off may "
    "pass for whole.",
    "wrapped_json": "It writes JSON in a fence or among words: what is around it is dropped.",
}


def describe_notes(known: KnownModel, now: datetime) -> Sequence[str]:
    """Return a sentence for each thing that is adapted to, in the order of the tables."""
    steps = known.list_steps(now)
    if "text_answers" in steps:
        steps -= {"json_object"}
    return [
        *(note for step, note in STEP_NOTES.items() if step in steps),
        *(note for quirk, note in QUIRK_NOTES.items() if quirk in known.quirks),
    ]
