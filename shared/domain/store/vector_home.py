"""Vector homes: which buckets of the vector index hold a user's rows, and which hosts hold a bucket."""

from hashlib import sha256

from shared.domain.ids import UserId
from shared.domain.value import value

BUCKETS = 1_024


@value
class VectorHome:
    """The bucket that a user's rows are read from and written to.

    While they are moved they are written to the bucket `twin` as well.
    """

    bucket: int
    twin: int | None = None

    @property
    def buckets(self) -> tuple[int, ...]:
        return (self.bucket,) if self.twin is None else (self.bucket, self.twin)


@value
class Shard:
    """The hosts of the buckets from `first` to `last`."""

    first: int
    last: int
    sparse_host: str
    dense_host: str | None = None

    @property
    def buckets(self) -> range:
        return range(self.first, self.last + 1)


def hash_home(uid: UserId) -> VectorHome:
    """Return the home of a user who was never moved."""
    digest = sha256(uid.encode()).digest()
    return VectorHome(bucket=int.from_bytes(digest[:8], "big") % BUCKETS)
