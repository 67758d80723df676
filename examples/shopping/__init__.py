"""A small app for Keepsake: a shopping list that its owner's chat can read and change."""
