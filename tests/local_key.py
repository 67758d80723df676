"""Local key of every product that a test starts, and the commands' environment with it."""

import os
from collections.abc import Mapping

from infra.local.local_key import HEADER

LOCAL_KEY = "key-of-the-tests"
KEY_HEADER = {HEADER: LOCAL_KEY}


def build_command_environment() -> Mapping[str, str]:
    """Return the environment of a command that signs in at a product of the tests."""
    return {**os.environ, "LOCAL_KEY": LOCAL_KEY}
