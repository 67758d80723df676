"""Data of a prompt that a window does not hold: cut where that says least."""

from hypothesis import given
from hypothesis import strategies as st

from shared.models.fit_data import fit_data
from shared.models.windows import count_data_tokens

DATA = st.dictionaries(
    st.sampled_from(["said", "notes", "by", "lines"]),
    st.text(max_size=4_000) | st.lists(st.text(max_size=200), max_size=60),
    max_size=4,
)


@given(DATA, st.integers(400, 4_000))
def test_data_fits_what_a_window_leaves_for_it_n2(data: dict[str, object], max_tokens: int) -> None:
    assert count_data_tokens(fit_data(data, max_tokens)) <= max_tokens


@given(DATA)
def test_data_that_fits_stays_as_it_is_n2(data: dict[str, object]) -> None:
    assert fit_data(data, count_data_tokens(data)) is data


def test_the_longest_text_is_cut_and_the_short_ones_stay_n2() -> None:
    fitted = fit_data({"said": "The boiler is broken. " * 2_000, "by": "Ann"}, 500)

    assert fitted["by"] == "Ann"
    assert fitted["said"].startswith("The boiler")
    assert fitted["said"].endswith("broken. ")
