"""vectorize, guvectorize and reduce: kernels made from a scalar or core function. Before: the user's function.
After: launch.kernel, which compiles, caches and launches them like any other; so a known one needs no compiler."""
