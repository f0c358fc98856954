"""Device functions written in Python, which Numba compiles for the device when a kernel uses them. Before: lowering.

They run on every target: no float literal may decide a precision where a parameter can, and nothing allocates.
"""
