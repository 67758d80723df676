"""Soak: people ask for minutes while processes die, clocks are wrong and connections break."""
