"""Exclusive facts: keys by which two facts contradict each other."""

import pytest

from shared.library.exclusive_facts import build_exclusive_key, find_exclusive_key


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("User lives in Rome", "home"),
        ("User moved to Rome", "home"),
        ("User works for Ford", "employer"),
        ("User is 41 years old", "age"),
        ("User is 41", "age"),
        ("User's full name is Ada King", "name"),
        ("User’s birthday is 3 May", "birthday"),
        ("User's favorite color is green", "favourite color"),
        ("user's favourite Green Tea is sencha", "favourite green tea"),
        ("User likes Rome", None),
        ("User is allergic to nuts", None),
        ("User's daughter lives in Rome", None),
    ],
)
def test_only_some_facts_exclude_one_another_c63(content, key):
    assert find_exclusive_key(content) == key


@pytest.mark.parametrize(
    ("key", "favourite_of", "stored"),
    [
        ("home", None, "home"),
        ("home", "tea", "home"),
        ("favourite", " Green  Tea", "favourite green tea"),
        ("favourite", "", None),
        (None, "tea", None),
    ],
)
def test_a_stored_key_names_what_a_favourite_is_of_c63(key, favourite_of, stored):
    assert build_exclusive_key(key, favourite_of) == stored
