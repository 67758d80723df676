"""The product whole, in both of its shapes."""
