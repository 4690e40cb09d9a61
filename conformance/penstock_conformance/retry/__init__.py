"""Retries: which requests a client must, may and must not repeat after which failures."""
