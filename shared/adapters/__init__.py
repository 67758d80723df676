"""One file = one vendor behind one port: `<vendor>_<port>.py`."""
