"""Importers: pure readers that turn a file's bytes into conversations."""
