"""Figures beside their baselines, measured on the machine at hand: `make bench`."""
