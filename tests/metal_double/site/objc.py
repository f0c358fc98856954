"""`import objc` for a process with this folder on PYTHONPATH."""

import importlib

importlib.import_module("Metal")  # puts both modules of one double in place
