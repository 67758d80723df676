"""Fixtures of the contract with the released app: the product as it is started, and phones."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import httpx
import pytest

from infra.emulators.process import find_free_port
from shared.adapters.trust_store import load_trust_store
from tests.contracts.omi_client.phone import Phone, sign_in
from tests.e2e.product import Product, run_product

TIMEOUT_S = 90


@pytest.fixture(scope="session")
def developer_port() -> int:
    """The port on which a test may serve a developer's server; the product calls it by plain http."""
    return find_free_port()


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory, developer_port: int) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("omi_client")
    origin = f"http://127.0.0.1:{developer_port}"
    with run_product(folder, EGRESS_DEV_ORIGINS=origin) as product:
        yield product


@pytest.fixture(scope="session")
def uids() -> Iterator[str]:
    """Ids of users, each with an empty library."""
    return (f"phone-{n}" for n in count(1))


@pytest.fixture
def sign_up(product: Product, uids: Iterator[str]) -> Iterator[Callable[[], Phone]]:
    """Return a function that signs a new user in."""
    with ExitStack() as stack:

        def sign_up() -> Phone:
            client = httpx.Client(
                base_url=product.origin, verify=load_trust_store(), timeout=TIMEOUT_S
            )
            return sign_in(stack.enter_context(client), next(uids))

        yield sign_up


@pytest.fixture
def phone(sign_up: Callable[[], Phone]) -> Phone:
    return sign_up()
