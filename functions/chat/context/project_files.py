"""Files of a chat's project: given to a model whole, or named for it to search; pure."""

from collections.abc import Sequence
from dataclasses import replace

from functions.chat.context.context import Context
from functions.chat.context.given_files import (
    FileText,
    build_note,
    list_pictures,
    number_documents,
)
from shared.domain.chats.project import WHOLE_SHARE
from shared.domain.files.file import File
from shared.domain.models.model import ModelFacts
from shared.domain.value import value


@value
class ProjectFiles:
    """The files that were read; `texts` are theirs, none where no model could be given them all."""

    files: Sequence[File] = ()
    texts: Sequence[FileText] = ()

    def fit(self, facts: ModelFacts) -> bool:
        """Tell whether a model is given them whole."""
        tokens = sum(file.token_count for file in self.files)
        return tokens < WHOLE_SHARE * facts.window_tokens

    def are_given(self, facts: ModelFacts) -> bool:
        """Tell whether there are any, and a model may be given them whole: nothing is left to search then."""
        return bool(self.files) and self.fit(facts)

    def give(self, context: Context) -> Context:
        """Return a context with all of them near its end.

        A document that has a number in the chat keeps it. A file that came with the question as well is given once.
        """
        numbering = context.numbering.copy()
        documents, pictures = number_documents(self.texts, numbering), list_pictures(self.texts)
        known = {each.file_id for each in documents}
        return replace(
            context,
            numbering=numbering,
            project_files=tuple(documents),
            files=tuple(each for each in context.files if each.file_id not in known),
            pictures=(*pictures, *(each for each in context.pictures if each not in pictures)),
        )

    def name(self, context: Context) -> Context:
        """Return a context with their names, by which a model can search them."""
        return replace(context, project_notes=tuple(build_note(file) for file in self.files))
