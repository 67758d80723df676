"""Embeds the examples of question kinds: python -m infra.question_kinds."""

import numpy as np

from shared.adapters.embedded.local_embedder import load_encoder
from shared.retrieval.question_kinds import VECTORS, list_examples

MAX_INT8 = 127


def main() -> None:
    """Write the vectors of the examples as whole numbers of eight bits."""
    vectors = np.asarray(load_encoder(threads=1).query([text for _, text in list_examples()]))
    scaled = vectors / np.abs(vectors).max(axis=1, keepdims=True) * MAX_INT8
    np.savez(VECTORS, vectors=scaled.round().astype(np.int8))
    print(f"keepsake: {len(vectors)} examples in {VECTORS}")


if __name__ == "__main__":
    main()
