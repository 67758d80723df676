"""Commands of the owner about what is remembered, answered without a model."""
