"""Tables of labelled examples: each has the vectors of its texts, by the encoder that the product asks."""

import numpy as np
import pytest

from infra.examples import list_tables
from shared.adapters.embedded.local_embedder import MODEL_NAME, load_encoder
from shared.retrieval.examples import ENCODER, ExampleTable
from tests.fixtures.encoder import needs_encoder

SAMPLES = 6
TABLES = [pytest.param(*each, id=each[0].file.stem) for each in list_tables()]


@needs_encoder
@pytest.mark.parametrize(("table", "texts"), TABLES)
def test_the_vectors_are_those_of_the_examples_e1(
    table: ExampleTable[str], texts: list[str]
) -> None:
    with np.load(table.file) as stored:
        vectors = stored["vectors"].astype(np.float32)
    assert ENCODER == MODEL_NAME
    assert len(vectors) == len(texts)
    places = [*range(0, len(texts), len(texts) // SAMPLES)]

    encoded = load_encoder(threads=1).query([texts[place] for place in places])

    for place, known in zip(places, np.asarray(encoded), strict=True):
        example = vectors[place]
        cosine = example @ known / np.linalg.norm(example) / np.linalg.norm(known)
        assert cosine > 0.99, texts[place]
