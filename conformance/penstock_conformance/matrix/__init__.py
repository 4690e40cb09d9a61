"""The fault matrix: every emulator fault, at every request of every operation of Penstock's client.

``penstock conformance --emulator --thorough matrix`` runs it as a suite. ``python -m penstock_conformance.matrix`` uses several
processes and has its own reports.
"""
