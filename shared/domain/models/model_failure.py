"""Model failures in words for people: the cause, and where it can be changed."""

from collections.abc import Mapping
from typing import Literal

from shared.domain.failure import FailureReason

ModelPlace = Literal["console", "environment", "openrouter", "service"]
"""Where the model is set: in the console, in the server's environment, that of personas there, or by
whoever runs the service."""

CAUSES: Mapping[FailureReason, str] = {
    "refused_key": "The provider of the language model refused the key.",
    "unknown_model": "The provider of the language model does not know the model that is set.",
    "no_quota": "The account at the provider of the language model has no quota left.",
    "day_used_up": "What may be read of your recordings in a day is used up. It continues at 00:00 UTC.",
    "no_connection": "There is no connection to the language model.",
    "busy": "Too much is asked of the language model at the moment.",
    "malformed_answer": "The language model gave no usable answer.",
    "too_long": "This is more text than the language model takes at once.",
    "filtered": "The provider of the language model refused to read or answer this.",
    "wrong_server": "What answers at the address of the language model is no language model.",
    "other": "The language model gave no usable answer.",
}
ADVICE: Mapping[ModelPlace, Mapping[FailureReason, str]] = {
    "console": {
        "refused_key": "Enter another under Your account → Model.",
        "unknown_model": "Choose another under Your account → Model.",
        "no_quota": "Add to it at the provider, or choose another model under Your account → Model.",
        "no_connection": "Check that its server runs, and its address under Your account → Model.",
        "wrong_server": "Check its address under Your account → Model.",
    },
    "environment": {
        "refused_key": "It is OPENAI_API_KEY in the environment of the server: change it there, and "
        "start the server again.",
        "unknown_model": "Its names are MODEL_AGENT, MODEL_READER, MODEL_STANDARD and MODEL_FAST "
        "in the environment of the server: change them there, and start the server again.",
        "no_quota": "Add to it at the provider, or set another OPENAI_API_KEY in the environment of "
        "the server.",
        "no_connection": "Check that its server runs, and OPENAI_BASE_URL in the environment of the "
        "server.",
        "wrong_server": "Check OPENAI_BASE_URL in the environment of the server.",
    },
    "openrouter": {
        "refused_key": "It is OPENROUTER_API_KEY in the environment of the server: change it there, and "
        "start the server again.",
        "unknown_model": "Its names are MODEL_PERSONA and MODEL_PERSONA_PREMIUM in the environment of "
        "the server: change them there, and start the server again.",
        "no_quota": "Add to it at the provider, or set another OPENROUTER_API_KEY in the environment "
        "of the server.",
        "no_connection": "Check that its server runs, and OPENROUTER_BASE_URL in the environment of "
        "the server.",
        "wrong_server": "Check OPENROUTER_BASE_URL in the environment of the server.",
    },
    "service": {
        "refused_key": "Only those who run this server can change it.",
        "unknown_model": "Only those who run this server can change it.",
        "no_quota": "Only those who run this server can add to it.",
        "no_connection": "Those who run this server can see why in its log.",
        "wrong_server": "Those who run this server can see why in its log.",
    },
}


def describe_model_failure(reason: FailureReason, place: ModelPlace) -> str:
    """Return the cause, and what can be done about it at `place`."""
    return " ".join(list_failure_sentences(reason, place))


def list_failure_sentences(reason: FailureReason, place: ModelPlace) -> list[str]:
    """Return the cause, and what can be done about it at `place`, in one or two sentences."""
    advice = ADVICE[place].get(reason)
    return [CAUSES[reason], *([advice] if advice else [])]
