"""Wiring of imports: its entry points need what all functions share."""

from shared.build_deps import DepsBuilder

build_deps = DepsBuilder()
