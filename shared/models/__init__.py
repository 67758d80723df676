"""Wire to language models: all that is known of how models and their servers differ."""
