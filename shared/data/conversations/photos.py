"""Photos of conversations: each a document below its conversation, too large to stand in it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shared.data.store.codec import dump, type_adapter
from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import Conversation
from shared.domain.store.documents import Document, Set


def photo_path(conversation_path: str, number: int) -> str:
    return f"{conversation_path}/photos/{number}"


def split_photos(path: str, conversation: Conversation) -> tuple[Conversation, list[Set]]:
    """Return a conversation as it is stored at the path, and the writes of its photos."""
    photos = conversation.photos
    stored = replace(
        conversation,
        photos=(),
        photo_count=len(photos),
        photo_bytes=conversation.count_photo_bytes(),
    )
    return stored, [
        Set(photo_path(path, n), {"photo": dump(photo)}) for n, photo in enumerate(photos)
    ]


def list_photo_paths(path: str, conversation: Conversation) -> Iterator[str]:
    return (photo_path(path, number) for number in range(conversation.photo_count))


def merge_photos(conversation: Conversation, documents: Sequence[Document | None]) -> Conversation:
    """Return it with its photos: those that its client wrote into it, then those stored below it."""
    if not documents:
        return conversation
    stored = [_read_photo(document) for document in documents if document]
    return replace(conversation, photos=(*conversation.photos, *stored), photo_count=0)


def _read_photo(document: Document) -> Photo:
    """Read what we wrote ourselves; its id is the device's, not the document's."""
    photo: Photo = type_adapter(Photo).validate_python(document.fields["photo"])
    return photo
