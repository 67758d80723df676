"""Error of the model server: one sentence that says what is wrong, and what to do."""


class CannotServeModel(Exception):
    """A model that cannot be run here; the message is for whoever started it."""
