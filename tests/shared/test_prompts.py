"""Every prompt file, found by itself."""

import pytest

from shared.prompts import FOLDER, SlotMismatch, compute_version, list_slots, render

NAMES = sorted(str(file.relative_to(FOLDER).with_suffix("")) for file in FOLDER.rglob("*.md"))


def build_values(name):
    return {slot: f"<{slot}>" for slot in list_slots(name)}


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_renders_whole_and_repeats_no_slot_marks(name):
    text = render(name, **build_values(name))

    assert len(text) > 20
    assert "{{" not in text
    assert "}}" not in text


@pytest.mark.parametrize("name", NAMES)
def test_every_value_stands_in_the_text(name):
    text = render(name, **build_values(name))

    assert all(value in text for value in build_values(name).values())


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_slot_is_refused(name):
    with pytest.raises(SlotMismatch, match="surprise"):
        render(name, **build_values(name), surprise="!")


@pytest.mark.parametrize("name", [name for name in NAMES if list_slots(name)])
def test_a_missing_slot_is_refused(name):
    with pytest.raises(SlotMismatch):
        render(name)


def test_a_value_that_looks_like_a_slot_stays_as_it_is():
    name = "process_conversation/extraction"

    assert "{{example_food}}" in render(
        name, **{**build_values(name), "example_food": "{{example_food}}"}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_version_is_short_and_unique(name):
    others = {compute_version(other) for other in NAMES if other != name}

    assert len(compute_version(name)) == 12
    assert compute_version(name) not in others
