"""Watch over the models that are set: what is wrong with them at the start, and what their server tells.

All of it is free: no model is asked to write anything.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from functions.chat.turn.trial import build_trial
from infra.local.model_check import LEAST_WINDOW_TOKENS, SMALL_WINDOW
from shared import telemetry
from shared.adapters.cloud.openai_server import OpenaiServer
from shared.adapters.embedded.model_file import ModelFile
from shared.domain.errors import ModelFailed, ModelUnreachable
from shared.domain.local_address import is_local_url
from shared.domain.models.model import ModelFacts
from shared.domain.models.model_failure import ModelPlace, describe_model_failure
from shared.domain.value import value
from shared.models.known_models import KnownModels, ModelKey
from shared.models.server_facts import NOTHING_TOLD, ServerFacts, add_facts, is_listed, list_names
from shared.ports import Clock
from shared.settings import Settings

INTERVAL_S = 60.0
"""How often a server on this machine is asked: it may be started anew, and load a model with another window."""
MAX_NAMED = 10


@value
class ModelsInUse:
    """The server that is asked, and its models by who asks: first the one that answers."""

    base_url: str
    api_key: str
    models: tuple[str, ...]
    place: ModelPlace


def find_models_in_use(settings: Settings, file: ModelFile) -> ModelsInUse | None:
    """Return what the environment or the console sets; None for the offline model."""
    if settings.openai_api_key:
        roles = ("agent", "standard", "reader", "fast")
        return ModelsInUse(
            base_url=settings.openai_base_url,
            api_key=settings.openai_api_key,
            models=tuple(dict.fromkeys(settings.models[role] for role in roles)),
            place="environment",
        )
    setup = file.load()
    if setup is None:
        return None
    return ModelsInUse(
        base_url=setup.base_url,
        api_key=setup.api_key,
        models=tuple(dict.fromkeys((setup.model, setup.small_model))),
        place="console",
    )


class ModelWatch:
    """Says what is wrong by `say`, in a line each, and keeps in `known` what servers tell."""

    def __init__(
        self,
        find: Callable[[], ModelsInUse | None],
        known: KnownModels,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self._find = find
        self._known = known
        self._clock = clock
        self._say = say
        self._told: dict[ModelKey, ServerFacts] = {}

    async def run(self) -> None:
        """Look at what is set once, then follow a server on this machine for as long as this one runs."""
        await self.look()
        while True:
            await self._clock.sleep(INTERVAL_S)
            used = self._find()
            if used is not None and is_local_url(used.base_url):
                await self._keep_facts(used, listing=None)

    async def look(self) -> None:
        """Say what is wrong with the model that answers, and what to know of it."""
        used = self._find()
        if used is None:
            return
        server = OpenaiServer(base_url=used.base_url, api_key=used.api_key)
        model = used.models[0]
        try:
            listing = await server.list_models(self._clock.now())
        except (ModelFailed, ModelUnreachable) as error:
            telemetry.warning("model_check_failed", model=model, reason=error.reason)
            sentence = describe_model_failure(error.reason, used.place)
            self._say(f"{model} cannot be used now. {sentence}")
            return
        self._say_unlisted(listing, model)
        await self._keep_facts(used, listing)
        window = self._known.get((used.base_url, model)).window_tokens
        if window is not None and _is_small(window, self._clock.now()):
            self._say(f"{model}: {SMALL_WINDOW.format(window=window)}")

    def _say_unlisted(self, listing: Any, model: str) -> None:
        """Name what a server lists instead; one that lists a single model may answer to any name."""
        names = list_names(listing)
        if len(names) > 1 and not is_listed(listing, model):
            telemetry.warning("model_not_listed", model=model)
            others = ", ".join(names[:MAX_NAMED]) + ("…" if len(names) > MAX_NAMED else "")
            self._say(f"{model} may not answer: its server does not list it, but {others}")

    async def _keep_facts(self, used: ModelsInUse, listing: Any) -> None:
        """Keep what a server tells anew: what it told before may be better known from its refusals by now."""
        server = OpenaiServer(base_url=used.base_url, api_key=used.api_key)
        for model in used.models:
            key = (used.base_url, model)
            facts = await server.ask_facts(model, listing)
            if facts not in (NOTHING_TOLD, self._told.get(key)):
                self._told[key] = facts
                self._known.change(key, partial(add_facts, facts=facts))


def _is_small(window_tokens: int, now: datetime) -> bool:
    """Tell whether questions are given less in such a window than in a large one."""
    facts = ModelFacts(window_tokens=window_tokens)
    return window_tokens < LEAST_WINDOW_TOKENS or build_trial(facts, now).rules_form != "whole"
