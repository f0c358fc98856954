"""Passes of ours over Numba's untyped IR. Before: bytecode. After: Numba's rewrites and type inference."""
