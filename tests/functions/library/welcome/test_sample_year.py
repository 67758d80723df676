"""The year of the sample library: three hundred talks by rules, loaded and removed like the month."""

from functions.library.welcome.sample_year import COUNT, list_entries
from tests.fixtures.library import BODY, CONVERSATIONS

SAMPLE = "/v1/sample-library"


async def list_names(alice) -> list[str]:
    query = {"limit": 1000, "include_discarded": True, "include_transcript": False}
    return [listed["id"] for listed in (await alice.get(CONVERSATIONS, params=query)).json()]


def test_three_hundred_talks_differ_in_their_words_and_fill_the_year_before_the_month():
    entries = list(list_entries())

    assert len({tuple(entry["lines"]) for entry in entries}) == COUNT == 300
    assert len({entry["id"] for entry in entries}) == COUNT
    days = [entry["days_ago"] for entry in entries]
    assert (min(days), max(days)) == (31, 363)
    assert not [line for entry in entries for line in entry["lines"] if "{" in line]


async def test_a_year_comes_beside_the_month_once_and_goes_with_it(alice):
    await alice.post(CONVERSATIONS, json=BODY)
    month = (await alice.post(SAMPLE)).json()["conversations"]

    loads = [await alice.post(SAMPLE, params={"years": 1}) for _ in range(2)]

    assert [answer.json()["conversations"] for answer in loads] == [month + COUNT] * 2
    assert len(await list_names(alice)) == month + COUNT + 1
    await alice.delete(SAMPLE)
    assert await list_names(alice) == ["talk"]


async def test_more_than_a_year_is_refused(alice):
    assert (await alice.post(SAMPLE, params={"years": 2})).status_code == 422
