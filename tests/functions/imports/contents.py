"""Contents of an imported file as a whole: what its parts hold, put together."""

from functions.imports.formats.drafts import Contents, join_contents
from functions.imports.formats.read_file import read_parts
from shared.library.decoding import UnreadableFile


def read_file(name: str, data: bytes) -> Contents:
    """Return everything that a file holds. Raises UnreadableFile where nothing of it can be read."""
    parts = read_parts(name, data)
    contents = [part.contents for part in parts if part.contents]
    if contents:
        return join_contents(contents)
    refusals = [part.refusal for part in parts if part.refusal]
    if parts[0].name == name:
        raise refusals[0]
    named = [f"{part.name}: {part.refusal}" for part in parts]
    raise UnreadableFile("; ".join(named))
