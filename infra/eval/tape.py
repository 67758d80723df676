"""Tape: a model's answers, recorded in a file and played again where no model is at hand."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.domain.models.model import ModelFacts, ModelRole, Prompt, Urgency
from shared.models.windows import count_prompt_tokens
from shared.models.wrapped_model import WrappedModel, WrappedModels
from shared.ports import ChatModel, Models

T = TypeVar("T")


class Tape:
    """Answers by what they are about, the prompt's name and how often it was asked; `subject` is set before each.

    `input_tokens` and `calls` are what was asked about each subject.
    """

    def __init__(self, answers: Mapping[str, Any] | None = None, model_name: str = "") -> None:
        self.answers: dict[str, Any] = dict(answers or {})
        self.model_name = model_name
        self.subject = ""
        self.is_played = answers is not None
        self.input_tokens: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()

    def begin(self, prompt: Prompt) -> str:
        """Count a question; return the key of its answer."""
        name = f"{self.subject} {prompt.name.rpartition('/')[2]}"
        self._asked[name] += 1
        self.input_tokens[self.subject] += count_prompt_tokens(prompt)
        self.calls[self.subject] += 1
        return f"{name} {self._asked[name]}"

    def write(self, path: Path) -> None:
        recorded = {"model": self.model_name, "answers": self.answers}
        path.write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", "utf-8")


def load_tape(path: Path) -> Tape:
    recorded = json.loads(path.read_text("utf-8"))
    return Tape(recorded["answers"], recorded["model"])


def _describe(facts: ModelFacts, tape: Tape) -> ModelFacts:
    """Say that what was recorded was written by a model, whatever is at hand where it is played."""
    return replace(facts, is_extractive=False) if tape.is_played else facts


class TapedModels(WrappedModels):
    """The models of a server, whose answers a tape records, or plays instead of asking."""

    def __init__(self, models: Models, tape: Tape) -> None:
        super().__init__(models)
        self._tape = tape

    def name(self, role: ModelRole) -> str:
        return self._tape.model_name if self._tape.is_played else self._models.name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return _describe(self._models.describe(role), self._tape)

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> ChatModel:
        model = self._models.for_user(uid, is_masked=is_masked, chat=chat, urgency=urgency)
        return _TapedModel(model, self._tape)


class _TapedModel(WrappedModel):
    def __init__(self, model: ChatModel, tape: Tape) -> None:
        super().__init__(model)
        self._tape = tape

    def name(self, role: ModelRole) -> str:
        return self._tape.model_name if self._tape.is_played else self._model.name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return _describe(self._model.describe(role), self._tape)

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        key = self._tape.begin(prompt)
        if self._tape.is_played:
            return _read(self._tape.answers.get(key), schema)
        answer = await self._model.complete_structured(role, prompt, schema)
        if isinstance(answer, BaseModel):
            self._tape.answers[key] = answer.model_dump(mode="json", exclude_none=True)
        return answer


def _read(recorded: Any, schema: type[T]) -> T:
    """Raises ModelFailed for what the model did not answer when it was recorded, or in another form."""
    if recorded is None or not issubclass(schema, BaseModel):
        raise ModelFailed("nothing was recorded")
    try:
        return schema.model_validate(recorded)
    except ValidationError as error:
        raise ModelFailed("what was recorded does not fit") from error
