"""`python -m numba_metal selftest`: kernels run on this machine's device and held against NumPy, for a bug report.

`case.py` is what a kernel must do; `kernels.py` has some of each kind; `run.py` runs them; `report.py` tells.
"""
