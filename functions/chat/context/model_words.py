"""Model words: what of an answer its model wrote, and so all that a model is given of it as its own.

A sentence of ours that came back as a model's words would be taken for how it answers, and repeated.
"""

from collections.abc import Iterator
from functools import cache
from typing import get_args

from functions.chat import user_texts
from shared.domain.chats.chat import Message, build_greeting_id
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.failure import FailureReason
from shared.domain.models.model_failure import ModelPlace, list_failure_sentences
from shared.languages import LANGUAGES, translate
from shared.safety.crisis_plan import build_addition, cut_plan

_PARAGRAPH = "\n\n"


def select_model_words(message: Message) -> str:
    """Return the words of a message that are its sender's: of an answer, those of its model.

    Answers that were stored without them are known by what they are, and by our sentences at their end.
    """
    if message.sender == "human" or message.from_integration:
        return message.text
    if message.model_text is None or message.is_imported:
        return "" if _is_ours(message) else _cut_own_paragraphs(message.text)
    return _cut_own_paragraphs(message.model_text)


def _is_ours(message: Message) -> bool:
    """Tell of an answer that does not say whose words it is: no model wrote it."""
    is_greeting = message.id == build_greeting_id(message.session_id)
    is_refused = message.metadata.get("outcome") == "refused"
    return is_greeting or is_refused or message.route in ("crisis", "command")


def _cut_own_paragraphs(text: str) -> str:
    """Leave out a crisis plan, which ends an answer, and the last paragraphs that are sentences of ours."""
    text = cut_plan(text)
    rest, _, last = text.rpartition(_PARAGRAPH)
    while last.strip() in _list_own_sentences():
        text = rest.rstrip()
        rest, _, last = text.rpartition(_PARAGRAPH)
    return text


@cache
def _list_own_sentences() -> frozenset[str]:
    """Return the sentences with which a turn ends, or that refuse it, in all languages."""
    ends = [text for name, text in vars(user_texts).items() if name.isupper()]
    languages = (None, *LANGUAGES)
    translated = [translate(text, language) for text in ends for language in languages]
    failures = [text for language in languages for text in _list_failures(language)]
    additions = [text for language in languages for text in _list_additions(language)]
    return frozenset([*translated, *failures, *additions])


def _list_additions(language: str | None) -> Iterator[str]:
    """Yield what answers to a question end with that may have been a cry for help."""
    for verdict in (CrisisVerdict(level=1), CrisisVerdict(level=2, adds_contacts=True)):
        yield build_addition(verdict, language)


def _list_failures(language: str | None) -> Iterator[str]:
    for reason in get_args(FailureReason):
        for place in get_args(ModelPlace):
            sentences = list_failure_sentences(reason, place)
            yield " ".join(translate(sentence, language) for sentence in sentences)
