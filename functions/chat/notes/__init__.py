"""Chat notes: what one model call after an answer writes down about it and its chat."""
