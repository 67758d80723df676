"""Shared package of the four functions: domain, ports, stores, prompts and adapters."""

import os

# No pydantic plugin is used here, and looking for one reads the metadata of every installed
# package: a quarter of a cold start.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # noqa: TID251 - written, not read
