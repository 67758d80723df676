"""Embeds the labelled examples of the product: python -m infra.examples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from functions.process_conversation.processing import passing_facts, told_secrets
from functions.tool_proxy.registry import borrowed_trust, grave_tools
from infra.deploy import failures
from shared.adapters.embedded.local_embedder import load_encoder
from shared.adapters.embedded.offline import intents, tasks
from shared.data.search.question_meaning import load_crisis_table
from shared.retrieval import asked_tools, denials, question_kinds
from shared.retrieval.examples import ExampleTable
from shared.safety import crisis_examples

MAX_INT8 = 127


def list_tables() -> list[tuple[ExampleTable[Any], Sequence[str]]]:
    """Return all tables of the product, each with the texts of its examples."""
    labelled = (
        (question_kinds.load_table(), question_kinds.list_examples()),
        (asked_tools.load_table(), asked_tools.list_examples()),
        (intents.load_examples().table, intents.load_examples().spoken),
        (tasks.load_examples().table, tasks.load_examples().spoken),
        (denials.load_table(), denials.list_examples()),
        (borrowed_trust.load_table(), borrowed_trust.list_examples()),
        (grave_tools.load_table(), grave_tools.list_examples()),
        (told_secrets.load_table(), told_secrets.list_examples()),
        (passing_facts.load_table(), passing_facts.list_examples()),
        (failures.load_table(), failures.list_examples()),
        (load_crisis_table(), crisis_examples.list_examples()),
    )
    return [(table, [text for _, text in examples]) for table, examples in labelled]


def main() -> None:
    """Write the vectors of each table as whole numbers of eight bits."""
    encoder = load_encoder(threads=1)
    for table, texts in list_tables():
        vectors = np.asarray(encoder.query(texts))
        scaled = vectors / np.abs(vectors).max(axis=1, keepdims=True) * MAX_INT8
        np.savez_compressed(table.file, vectors=scaled.round().astype(np.int8))
        print(f"keepsake: {len(vectors)} examples in {table.file}")


if __name__ == "__main__":
    main()
