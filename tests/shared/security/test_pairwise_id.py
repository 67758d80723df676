"""Pairwise user ids: one for each user and app, which only we can read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ids import UserId
from shared.security.pairwise_id import create_pairwise_id, read_pairwise_id

KEY, OTHER_KEY = "ab" * 32, "cd" * 32
uids = st.text(min_size=1, max_size=64).filter(lambda text: text.isprintable()).map(UserId)


@given(uid=uids, other=uids)
def test_an_id_is_read_back_by_its_own_app_only_t5(uid: UserId, other: UserId):
    pairwise_id = create_pairwise_id(KEY, uid)

    assert read_pairwise_id(KEY, pairwise_id) == uid
    assert read_pairwise_id(OTHER_KEY, pairwise_id) is None
    assert (create_pairwise_id(KEY, other) == pairwise_id) == (other == uid)
    assert create_pairwise_id(OTHER_KEY, uid) != pairwise_id
    assert len(uid) < 8 or uid not in pairwise_id


def test_an_id_of_a_firebase_account_fits_where_ids_are_stored_t5():
    assert len(create_pairwise_id(KEY, UserId("x" * 28))) <= 64


@pytest.mark.parametrize(
    "text", ["", "alice", "u_", "u_alice", "u_é", "u_" + "A" * 60, "u_=", "u_/+"]
)
def test_anything_else_is_no_pairwise_id_t5(text: str):
    assert read_pairwise_id(KEY, text) is None
    assert read_pairwise_id("", text) is None
