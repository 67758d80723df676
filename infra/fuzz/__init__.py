"""Asks every public route what its document allows, and what it does not."""
