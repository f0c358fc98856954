"""Floating-point results as PTX rounds them. Before: NumPy. After: operations/."""
