"""Growth of a process over its samples."""

import pytest

from infra.soak.samples import Sample, compute_growth


def build_samples(*memory: float) -> list[Sample]:
    return [Sample(memory_mb=mb, open_files=20, rows=30, questions=3) for mb in memory]


@pytest.mark.parametrize(
    ("memory", "growth"),
    [
        ((50, 90, 100, 100, 100, 100), 1.0),
        ((10, 20, 100, 100, 150, 150), 1.5),
        ((100, 100), None),
        ((), None),
    ],
)
def test_growth_compares_the_last_third_with_the_one_before(
    memory: tuple[float, ...], growth: float | None
) -> None:
    assert compute_growth(build_samples(*memory), lambda sample: sample.memory_mb) == growth


def test_rows_a_question_are_defined_before_the_first_question() -> None:
    assert Sample(memory_mb=1, open_files=1, rows=4, questions=0).rows_per_question == 4
