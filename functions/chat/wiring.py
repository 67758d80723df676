"""Wiring of chat: what its entry points need beside what all functions share."""

from functools import cache
from typing import TYPE_CHECKING

from functions.chat.deps import ChatDeps, ClosingDeps, Limits, OpeningDeps
from shared import model_wiring, wiring
from shared.build_deps import DepsBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions.chat.runs.incognito_chats import IncognitoChats
    from functions.chat.runs.run_registry import RunRegistry
    from shared.data.apps.cached_apps import CachedApps
    from shared.data.search.search import Search
    from shared.data.stores import Stores
    from shared.domain.chats.safety import SafetyThresholds
    from shared.ports import LinkChecker, Realtime, ToolBox, Transcriber


class _Parts:
    @staticmethod
    def limits() -> Limits:
        return Limits()

    @staticmethod
    def thresholds() -> "SafetyThresholds":
        return wiring.settings().thresholds

    @staticmethod
    def web_search() -> bool:
        return wiring.settings().web_search

    @staticmethod
    def harm_limit() -> float:
        return wiring.settings().harm_limit

    @staticmethod
    def link_checker() -> "LinkChecker | None":
        return wiring.link_checker("after_turn")

    @staticmethod
    def toolbox() -> "ToolBox":
        return wiring.toolbox("chat")

    @staticmethod
    def build_transcriber() -> "Callable[[], Transcriber]":
        return model_wiring.transcriber

    @staticmethod
    def build_realtime() -> "Callable[[], Realtime]":
        return model_wiring.realtime


class _OpenChats:
    """What questions and the routes by which a chat is opened share in a process."""

    @staticmethod
    def stores() -> "Stores":
        return wiring.chat_stores()

    @staticmethod
    @cache
    def incognito_chats() -> "IncognitoChats":
        from functions.chat.runs.incognito_chats import IncognitoChats

        return IncognitoChats()

    @staticmethod
    def search() -> "Search":
        from shared.data.search.search import Search

        return Search(wiring.chat_stores().documents, wiring.vectors(), model_wiring.embedder())

    @staticmethod
    def offered_apps() -> "CachedApps":
        from shared.data.apps.cached_apps import CachedApps

        return CachedApps(wiring.chat_stores().apps, wiring.clock())

    @staticmethod
    def active_runs() -> "RunRegistry":
        """Let the runs of this process end as interrupted when the platform stops it."""
        from functions.chat.runs.run_registry import RunRegistry
        from shared.edge.serve.shutdown import on_sigterm

        registry = RunRegistry()
        on_sigterm(registry.close)
        return registry


class _SealedChats:
    @staticmethod
    def stores() -> "Stores":
        return wiring.sealed_stores()


build_deps = DepsBuilder(
    _Parts,
    special={OpeningDeps: _OpenChats, ChatDeps: _OpenChats, ClosingDeps: _SealedChats},
)
