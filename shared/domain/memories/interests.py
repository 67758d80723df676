"""Interests of the owner and their learning style: the bounds of what answers are told about both; pure."""

MAX_INTERESTS = 50
MAX_INTEREST_CHARS = 60
MAX_LEARNING_STYLE_CHARS = 200
