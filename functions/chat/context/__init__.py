"""Builds what a model reads; pure."""
