"""Token estimate of a text: exact tables are too heavy for a cold start."""


def estimate_tokens(text: str) -> int:
    """Estimate tokens at 4 characters each."""
    return len(text) // 4 + 1
