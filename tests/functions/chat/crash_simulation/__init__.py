"""Crash simulation of a question: two processes, one store, clients that reconnect."""
