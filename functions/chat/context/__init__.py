"""Context of a turn: what the model reads and what is done to its text; pure."""
