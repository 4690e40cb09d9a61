"""Installs penstock.compat and imports torchdata. On PYTHONPATH of processes that ``python -m penstock.compat`` starts."""

import importlib
import sys
from pathlib import Path

import penstock.compat

_shim = str(Path(__file__).parents[1])
_path = list(sys.path)
del sys.modules[__name__]
sys.path[:] = [each for each in _path if each != _shim]
try:
    penstock.compat.install()
    importlib.import_module(__name__)  # torchdata itself, or the replacement if it is not installed
finally:
    sys.path[:] = _path
