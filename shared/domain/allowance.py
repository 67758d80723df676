"""What a caller may still do within an hour."""

from shared.domain.value import value


@value
class Allowance:
    """What is left of `limit` in the running hour, and the seconds until the next."""

    limit: int
    remaining: int
    reset_s: int
