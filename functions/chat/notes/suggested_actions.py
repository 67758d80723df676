"""Suggested actions: changes of memories and settings that the owner's words give a reason for; pure.

A model names no entry: code finds the memory that its words are about, among those of the owner alone.

Also called: quick actions.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from zoneinfo import ZoneInfo

from functions.chat.consent.own_words import Agree
from functions.chat.notes.model_outputs import (
    MemorySuggestion,
    NotesOutput,
    SettingName,
    SettingSuggestion,
)
from shared.domain.account.profile import Profile
from shared.domain.chats.chat_notes import MAX_ACTIONS, SuggestedAction
from shared.domain.memories.interests import (
    MAX_INTEREST_CHARS,
    MAX_INTERESTS,
    MAX_LEARNING_STYLE_CHARS,
)
from shared.domain.memories.memory import MAX_WORDS, Memory
from shared.domain.words import count_words, normalise
from shared.library.exclusive_facts import find_exclusive_key
from shared.retrieval.passages import stands_in_words
from shared.retrieval.proof import is_proved
from shared.retrieval.terms import tokenize
from shared.security.visible_text import strip_invisible

MAX_NAME_CHARS = 200
_CODES: Collection[SettingName | None] = ("language", "time_zone")
MIN_SHARE = 0.6
"""Of a memory's words, so many have to stand in a suggestion that is about it."""


def has_memory_suggestions(output: NotesOutput, asked: str) -> bool:
    return any(stands_in_words(each.quote, asked) for each in output.memory_suggestions)


async def select_borne(output: NotesOutput, is_borne: Agree) -> NotesOutput:
    """Return the suggestions without values that the owner's words do not bear; a code has none of them."""
    memories = [
        each
        for each in output.memory_suggestions
        if each.operation == "delete" or await is_borne(each.quote, each.fact)
    ]
    settings = [
        each
        for each in output.setting_suggestions
        if each.setting in _CODES or await is_borne(each.quote, each.value)
    ]
    return output.model_copy(
        update={"memory_suggestions": memories, "setting_suggestions": settings}
    )


def build_actions(
    output: NotesOutput, asked: str, memories: Sequence[Memory], profile: Profile
) -> tuple[SuggestedAction, ...]:
    """Return the changes that the owner's words prove, each once; of memories while they are recalled."""
    of_memories = output.memory_suggestions if profile.recalls_memories else ()
    actions = [
        *_build_memory_actions(of_memories, asked, memories),
        *_build_setting_actions(output.setting_suggestions, asked),
    ]
    wanted = [action for action in actions if is_open(action, memories, profile)]
    unique = {(a.tool, a.entry_id, repr(a.arguments)): a for a in wanted}
    return tuple(unique.values())[:MAX_ACTIONS]


def is_open(action: SuggestedAction, memories: Sequence[Memory], profile: Profile) -> bool:
    """Tell whether a change would still change anything; `memories` hold those it is about."""
    if action.tool == "change_profile":
        return _changes_profile(action, profile)
    fact = normalise(action.arguments.get("content", ""))
    if fact and any(normalise(memory.content) == fact for memory in memories):
        return False
    return action.entry_id is None or any(memory.id == action.entry_id for memory in memories)


def _build_memory_actions(
    suggestions: Iterable[MemorySuggestion], asked: str, memories: Sequence[Memory]
) -> Iterator[SuggestedAction]:
    for suggestion in suggestions:
        fact = _clean(suggestion.fact)
        entry = _find_entry(suggestion, fact, memories)
        if suggestion.operation == "delete":
            if entry is not None and _names_entry(suggestion.quote, entry, asked):
                yield SuggestedAction(tool="delete_memory", arguments={}, entry_id=entry.id)
        elif count_words(fact) <= MAX_WORDS and is_proved(fact, suggestion.quote, asked):
            yield _build_fact_action(fact, entry)


def _names_entry(quote: str, entry: Memory, asked: str) -> bool:
    """Tell whether the owner's words name the memory that they want forgotten."""
    is_named = not set(tokenize(entry.content)).isdisjoint(tokenize(quote))
    return is_named and stands_in_words(quote, asked)


def _build_fact_action(fact: str, entry: Memory | None) -> SuggestedAction:
    arguments = {"content": fact}
    if entry is None:
        return SuggestedAction(tool="remember", arguments=arguments)
    return SuggestedAction(tool="update_memory", arguments=arguments, entry_id=entry.id)


def _find_entry(
    suggestion: MemorySuggestion, fact: str, memories: Sequence[Memory]
) -> Memory | None:
    """Return the one memory that a suggestion is about; None for a new one, and where several may be meant."""
    if suggestion.operation == "add":
        return None
    aspect = find_exclusive_key(fact) if fact else None
    same_aspect = [memory for memory in memories if aspect and memory.aspect == aspect]
    if len(same_aspect) == 1:
        return same_aspect[0]
    terms = frozenset(tokenize(f"{suggestion.about} {fact}"))
    shares = {memory.id: _compute_share(memory, terms) for memory in memories}
    best = max(shares.values(), default=0.0)
    found = [memory for memory in memories if shares[memory.id] == best]
    return found[0] if best >= MIN_SHARE and len(found) == 1 else None


def _compute_share(memory: Memory, terms: frozenset[str]) -> float:
    of_memory = frozenset(tokenize(memory.content)) - frozenset(tokenize("User"))
    return len(of_memory & terms) / len(of_memory) if of_memory else 0.0


def _build_setting_actions(
    suggestions: Iterable[SettingSuggestion], asked: str
) -> Iterator[SuggestedAction]:
    for suggestion in suggestions:
        setting, chosen = suggestion.setting, _clean(suggestion.value)
        if setting and _fits(setting, chosen) and _is_asked_for(suggestion, chosen, asked):
            is_list = setting == "interests"
            yield SuggestedAction(
                tool="change_profile", arguments={setting: [chosen] if is_list else chosen}
            )


def _is_asked_for(suggestion: SettingSuggestion, chosen: str, asked: str) -> bool:
    """Tell whether the owner's words prove a value; what is chosen by its code has none of them."""
    if suggestion.setting in _CODES:
        return stands_in_words(suggestion.quote, asked)
    return is_proved(chosen, suggestion.quote, asked)


def _fits(setting: SettingName, chosen: str) -> bool:
    match setting:
        case "name":
            return 0 < len(chosen) <= MAX_NAME_CHARS
        case "language":
            return chosen.isascii() and chosen.isalpha() and chosen.islower() and len(chosen) == 2
        case "time_zone":
            return _is_time_zone(chosen)
        case "interests":
            return 0 < len(chosen) <= MAX_INTEREST_CHARS
        case "learning_style":
            return 0 < len(chosen) <= MAX_LEARNING_STYLE_CHARS


def _is_time_zone(name: str) -> bool:
    try:
        return bool(ZoneInfo(name).key)
    except (KeyError, ValueError, OSError):
        return False


def _changes_profile(action: SuggestedAction, profile: Profile) -> bool:
    ((setting, chosen),) = action.arguments.items()
    if setting != "interests":
        return bool(getattr(profile, setting) != chosen)
    known = {interest.casefold() for interest in profile.interests}
    return len(known) < MAX_INTERESTS and not known.issuperset(each.casefold() for each in chosen)


def _clean(text: str) -> str:
    return " ".join(strip_invisible(text).split())
