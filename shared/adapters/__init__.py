"""Adapters: one file for one vendor behind one port, `<vendor>_<port>.py`."""
