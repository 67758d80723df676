"""Example app for Keepsake: a shopping list that its user's chat can read and change."""
