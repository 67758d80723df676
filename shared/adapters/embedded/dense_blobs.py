"""Dense vectors as bytes: those of an embedder in a quarter of their size, at 8 bits a number.

Also called: quantization, int8 vectors.
"""

from array import array
from collections.abc import Sequence
from math import isfinite

MIN_ROUNDED = 64
"""No embedder has fewer numbers; rounded, a short vector would lose its direction."""
HIGHEST = 127
_END = b"\0"


def encode_dense(vector: Sequence[float]) -> bytes:
    """Write a vector so that its direction stays: all that counts for a cosine.

    An even count of at least MIN_ROUNDED numbers becomes signed bytes, the highest of which is HIGHEST, and a
    byte behind them: no other blob has an odd length. Others are floats of 32 bits.
    """
    if not is_rounded(len(vector)):
        return array("f", vector).tobytes()
    highest = max(map(abs, vector))
    factor = HIGHEST / highest if highest else 0.0
    if not (isfinite(factor) and all(map(isfinite, vector))):
        factor, vector = 0.0, [0.0] * len(vector)  # without a direction nothing is near to it
    return array("b", [round(number * factor) for number in vector]).tobytes() + _END


def decode_dense(blob: bytes) -> tuple[float, ...]:
    """Return the vector, to which encode_dense() gives the same bytes; 8-bit numbers come as shares of the highest."""
    if len(blob) % 2 == 0:
        return tuple(array("f", blob))
    return tuple(number / HIGHEST for number in array("b", blob[:-1]))


def is_rounded(length: int) -> bool:
    """Tell whether vectors of this length are written in 8 bits."""
    return length >= MIN_ROUNDED and length % 2 == 0
