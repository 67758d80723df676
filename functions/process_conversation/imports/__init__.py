"""Readers of what people have: each turns a file's text into conversations, and touches nothing."""
