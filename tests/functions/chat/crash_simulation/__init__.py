"""Random trouble for a question: two processes, one store, clients that are cut off and come back."""
