"""Installs penstock.compat and imports the replacement. On PYTHONPATH of processes that ``python -m penstock.compat`` starts."""

import importlib

import penstock.compat

penstock.compat.install()
importlib.import_module(__name__)
