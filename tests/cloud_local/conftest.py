"""The cloud of these tests, started once."""

from collections.abc import Iterator

import pytest

from tests.cloud_local.cloud import Cloud, run_cloud
from tests.conftest import run_or_skip


@pytest.fixture(scope="package")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("cloud")
    with run_or_skip(lambda: run_cloud(folder)) as cloud:
        yield cloud
