"""Offline model: an extractive demo that quotes English text, and never composes any.

It needs no key and no network. Its rules know English only: of other languages it quotes what a search
finds, but extracts no facts, tasks or dates.
"""
