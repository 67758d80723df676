"""Fuzzer: asks every public route what docs/openapi.json allows, and what it does not."""
