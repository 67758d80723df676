"""Facts about "User", said to the owner."""

import pytest

from shared.domain.tasks.owner_words import address_owner


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("User lives in Bonn with their dog", "You live in Bonn with your dog"),
        ("User is allergic to nuts", "You are allergic to nuts"),
        ("User has lived in Rome since they were ten", "You have lived in Rome since you were ten"),
        ("User's cat is called Biscuit", "Your cat is called Biscuit"),
        ("User doesn't eat meat", "You don't eat meat"),
        ("User teaches maths", "You teach maths"),
        ("User studies law", "You study law"),
        ("User plays the cello", "You play the cello"),
        ("User moved to Bristol in 2019", "You moved to Bristol in 2019"),
        ("User was born in Kiel", "You were born in Kiel"),
        ("I like green tea", "I like green tea"),
        ("Users complain", "Users complain"),
        ("User", "User"),
    ],
)
def test_a_fact_is_said_to_its_owner(fact, said):
    assert address_owner(fact) == said
