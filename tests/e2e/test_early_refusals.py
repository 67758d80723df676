"""Memory of the started product while strangers and users send bodies that it refuses."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.product import Product, build_conversation_body, run_product

MAX_GROWTH_MB = 60
MAPS = b'{"memories":[' + b"{}," * 2_790_000 + b"{}]}"
"""A little below the limit of 8 MiB; parsed, it takes 350 MB."""
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def started_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with run_product(tmp_path_factory.mktemp("refusals")) as running:
        with running.client("alice") as alice:
            alice.post("/v1/conversations", json=build_conversation_body("talk", "Hello there."))
            alice.get("/v3/memories")
        yield running


@pytest.fixture
def stranger(started_product: Product) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=started_product.origin, timeout=30, headers=JSON) as http:
        yield http


def read_peak_mb(product: Product) -> int:
    """Return the most memory that the process has had since the peak was reset."""
    status = Path(f"/proc/{product.process.pid}/status").read_text()
    return next(int(row.split()[1]) for row in status.splitlines() if "VmHWM" in row) // 1024


def reset_peak_mb(product: Product) -> int:
    """Forget the peak; return the memory that the process has now."""
    Path(f"/proc/{product.process.pid}/clear_refs").write_text("5")
    return read_peak_mb(product)


@pytest.mark.parametrize("is_chunked", [False, True], ids=["declared", "chunked"])
@pytest.mark.parametrize(
    ("path", "authorization", "status"),
    [
        ("/v2/integrations/x/user/memories?uid=alice", "", 401),
        ("/v2/integrations/x/user/memories?uid=alice", "Bearer sk_0123456789abcdef", 403),
        ("/v2/integrations/x/user/conversations?uid=alice", "", 401),
        ("/v1/conversations", "", 401),
        ("/v1/conversations", "Bearer wrong", 401),
        ("/v1/mcp", "Bearer ks_mcp_alice.wrong", 401),
        ("/v1/integrations/notification", "", 401),
        ("/v1/integrations/notification", "Bearer sk_0123456789abcdef", 413),
        ("/local/token", "", 401),
    ],
)
def test_a_strangers_large_body_costs_little_memory_s4(
    started_product: Product,
    stranger: httpx.Client,
    path: str,
    authorization: str,
    status: int,
    *,
    is_chunked: bool,
) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    content = (MAPS[n : n + 65_536] for n in range(0, len(MAPS), 65_536)) if is_chunked else MAPS
    before_mb = reset_peak_mb(started_product)

    answer = stranger.post(path, content=content, headers=headers)

    growth_mb = read_peak_mb(started_product) - before_mb
    assert answer.status_code == status
    assert growth_mb < MAX_GROWTH_MB, growth_mb


def test_a_users_body_of_too_many_values_costs_little_memory_s4(started_product: Product) -> None:
    with started_product.client("alice") as alice:
        before_mb = reset_peak_mb(started_product)

        answer = alice.post("/v1/conversations", content=MAPS, headers=JSON)

        growth_mb = read_peak_mb(started_product) - before_mb
    assert answer.status_code == 413
    assert growth_mb < MAX_GROWTH_MB, growth_mb


@pytest.mark.parametrize(("user", "status"), [("alice", 413), (None, 401)])
def test_a_logo_of_20_mb_costs_little_memory_s4(
    started_product: Product, stranger: httpx.Client, user: str | None, status: int
) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="logo.png"\r\n\r\n'
    chunks = (head if n == 0 else bytes(65_536) for n in range(300))
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    with started_product.client(user or "nobody") as signed_in:
        client = signed_in if user else stranger
        before_mb = reset_peak_mb(started_product)

        answer = client.post("/v1/apps", content=chunks, headers=headers)

        growth_mb = read_peak_mb(started_product) - before_mb
    assert answer.status_code == status
    assert growth_mb < MAX_GROWTH_MB, growth_mb
