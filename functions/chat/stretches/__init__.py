"""Stretches of chats: what is kept of one once it ends."""
