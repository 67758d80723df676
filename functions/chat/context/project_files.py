"""Files of a chat's project: given to a model whole, or named for it to search; pure."""

from collections.abc import Sequence
from dataclasses import replace

from functions.chat.context.context import Context
from functions.chat.context.file_texts import (
    FileText,
    build_note,
    list_pictures,
    number_documents,
)
from shared.domain.file import File
from shared.domain.model import ModelFacts
from shared.domain.project import WHOLE_SHARE
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
        """Tell whether there are any, and a model is given them whole: nothing is left to search."""
        return bool(self.files) and self.fit(facts)

    def give(self, context: Context) -> Context:
        """Return a context with them: all of them near its end, or their names."""
        if self.fit(context.facts):
            return replace(
                context,
                project_files=tuple(number_documents(self.texts)),
                pictures=(*list_pictures(self.texts), *context.pictures),
            )
        return replace(context, project_notes=tuple(build_note(file) for file in self.files))
