"""Local world as others on the machine and on the network meet it: they get nothing (S9)."""

import stat
from pathlib import Path

from tests.e2e.product import add_conversation, build_conversation_body, run_product


def test_another_local_user_can_read_no_file_of_a_running_product_s9(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("alice") as alice:
        add_conversation(alice, build_conversation_body("offsite", "Lisbon is on Friday."))
        data = tmp_path / "data"
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.rglob("*")}
        folder_mode = stat.S_IMODE(data.stat().st_mode)

    assert folder_mode == 0o700
    assert {"keepsake.db", "keepsake.db-wal", "secret"} <= modes.keys()
    assert set(modes.values()) == {0o600}
