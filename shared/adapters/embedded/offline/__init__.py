"""Offline model: an extractive demo that quotes what was said, and never composes any text.

It needs no key and no network. Tasks and dates are read in six languages, facts in English.
"""
