"""Masking: the time of a text and of a streamed token, and what the placeholders of contacts count."""

import random
import time
from collections.abc import Callable, Mapping

from infra.bench.figures import Figure
from shared.domain.models.tokens import estimate_tokens
from shared.security.masking import Masker, StreamRestorer

CHARS = 16_384
ROUNDS = 20
TOKENS = 4_000
KEY = b"the key of a chat"
_SENTENCES = (
    "Can we move the meeting to Friday at 14:30? ",
    "I paid 1,250.00 for 3 nights, order 4471220913. ",
    "The offsite is from 2026-03-02 to 2026-03-05. ",
    "Ann said the boat is ready, and Ben brings the sails. ",
    "Version 10.15.7 fixed it, see https://example.com/notes/17. ",
)
_NEAR_NUMBERS = "(199) 099-0000, +99 130 456 7890, 199-099-0000, 0000 12 90000, "
"""Grouped as phone numbers are, and valid nowhere."""
REPETITIONS = 200
_PIECES = (
    *(
        "ab12",
        "DE89",
        "1234",
        "4111",
        "+49",
        "030",
        "(212)",
        "A",
        "7",
        "@",
        "at",
        "[dot]",
        "://",
        "eyJ",
        "sk_",
    ),
    *(
        "key",
        "pin",
        "token",
        "password",
        "passport",
        "seed phrase",
        "login",
        "new one",
        "is",
        "my",
        "番号",
        "は",
    ),
    *(" ", " ", " ", "-", ".", "\n", "\t", ", ", ":", "="),
)
_CONTACT = "Ann Lee, ann.lee@example.com, +49 30 1234567. "


def measure_masking() -> list[Figure]:
    """Measure texts of a kind that talk has, the worst ones, and a stream full of placeholders."""
    draw = random.Random(1)  # noqa: S311 - the same words in every run
    talk = "".join(draw.choice((*_SENTENCES, *_SENTENCES, _CONTACT)) for _ in range(CHARS // 40))
    texts: Mapping[str, str] = {
        "as people talk": talk[:CHARS],
        "of digits": "7" * CHARS,
        "of contacts": (_CONTACT * CHARS)[:CHARS],
        "of near phone numbers": (_NEAR_NUMBERS * CHARS)[:CHARS],
    }
    times = {name: _measure_text_ms(text) for name, text in texts.items()}
    return [
        Figure("masking: 16 KB as people talk", times["as people talk"], "ms", target=10),
        Figure("masking: 16 KB of digits", times["of digits"], "ms", target=10),
        Figure("masking: 16 KB of contacts", times["of contacts"], "ms", target=10),
        Figure(
            "masking: 16 KB of near phone numbers", times["of near phone numbers"], "ms", target=10
        ),
        *_measure_repetitions(draw),
        Figure("masking: restoring a streamed token", _measure_token_us(), "µs", target=50),
        Figure("masking: tokens of masked contacts to original", _compare_tokens(texts)),
    ]


def _measure_repetitions(draw: random.Random) -> list[Figure]:
    """Measure the worst of many texts that are one part again and again."""
    parts = ["".join(draw.choices(_PIECES, k=draw.randint(2, 6))) for _ in range(REPETITIONS)]
    slowest = max(parts, key=lambda part: _measure_text_ms((part * CHARS)[: CHARS // 8], rounds=1))
    half, whole = (_measure_text_ms((slowest * CHARS)[:size]) for size in (CHARS // 2, CHARS))
    return [
        Figure("masking: 16 KB of the slowest repetition", whole, "ms"),
        Figure("masking: the same to half of it", whole / half, target=2.5),
    ]


def _measure_text_ms(text: str, *, rounds: int = ROUNDS) -> float:
    return _measure_ms(lambda: Masker(KEY).mask(text), rounds=rounds)


def _measure_ms(work: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the processor's time in the fastest of some rounds: what else the machine does only adds to it."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times) * 1_000


def _measure_token_us() -> float:
    masker = Masker(KEY)
    masked = masker.mask(_CONTACT)
    pieces = [masked[start : start + 4] for start in range(0, len(masked), 4)]
    stream = (pieces * TOKENS)[:TOKENS]

    def restore() -> None:
        restorer = StreamRestorer(masker)
        for piece in stream:
            restorer.feed(piece)

    return _measure_ms(restore) * 1_000 / TOKENS


def _compare_tokens(texts: Mapping[str, str]) -> float:
    text = texts["of contacts"]
    return estimate_tokens(Masker(KEY).mask(text)) / estimate_tokens(text)
