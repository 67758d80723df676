"""Wiring of process_conversation: what its entry points need beside what all functions share."""

from typing import TYPE_CHECKING

from functions.process_conversation.deps import ReindexDeps
from shared import model_wiring, wiring
from shared.build_deps import DepsBuilder

if TYPE_CHECKING:
    from functions.process_conversation.processing.claims import Claims
    from shared.data.conversations.reindexings import Reindexings
    from shared.data.search.file_index import FileIndex
    from shared.data.search.library_index import LibraryIndex
    from shared.data.store.omi_form import OmiForm


class _Parts:
    @staticmethod
    def claims() -> "Claims":
        from functions.process_conversation.processing.claims import Claims

        return Claims(wiring.documents(), wiring.clock(), wiring.new_id())

    @staticmethod
    def omi_form() -> "OmiForm":
        return wiring.omi_form()

    @staticmethod
    def reindexings() -> "Reindexings":
        from shared.data.conversations.reindexings import Reindexings

        return Reindexings(wiring.documents())


class _PatientIndexes:
    """Indexes that wait for an embedder which is away."""

    @staticmethod
    def index() -> "LibraryIndex":
        from shared.data.search.library_index import LibraryIndex

        return LibraryIndex(wiring.vectors(), model_wiring.embedder(), awaits_embedder=True)

    @staticmethod
    def file_index() -> "FileIndex":
        from shared.data.search.file_index import FileIndex

        return FileIndex(wiring.vectors(), model_wiring.embedder(), awaits_embedder=True)


build_deps = DepsBuilder(_Parts, special={ReindexDeps: _PatientIndexes})
