"""The target-independent core of numba_metal and numba_ptxplus: import one of those instead."""

__version__ = "0.1.0"
