"""Structured answers of all functions: the classes whose schemas models are sent, by their names."""

import importlib
import pkgutil
from collections.abc import Sequence

from pydantic import BaseModel

import functions

SUFFIX = "Output"
"""What the name of such a class ends with."""


def list_answer_schemas() -> Sequence[type[BaseModel]]:
    """List the classes that models fill in, and their parts."""
    modules = pkgutil.walk_packages(functions.__path__, f"{functions.__name__}.")
    found = {
        kind
        for module in modules
        for kind in vars(importlib.import_module(module.name)).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind.__name__.endswith(SUFFIX)
    }
    return sorted(found, key=lambda kind: kind.__qualname__)
