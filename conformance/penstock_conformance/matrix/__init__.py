"""The fault matrix: every fault of the emulator, at every request of every operation of the client, on both data planes.

``penstock conformance --emulator --thorough matrix`` runs it as a suite, ``python -m penstock_conformance.matrix`` on many
processes and with a page of its own.
"""
