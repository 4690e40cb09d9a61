"""Stands on PYTHONPATH of the processes that ``python -m penstock.compat`` starts, and gives way to the real stand-in."""

import importlib

import penstock.compat

penstock.compat.install()
importlib.import_module(__name__)
