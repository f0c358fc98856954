"""The compile half: from a Python function to an Artifact. Before: launch.miss. After: the cache, Device.load.

`driver` goes from step to step: `run_passes` has Numba type and lower the function and all that it calls,
`kernel_entry` makes what a device starts, `linking` one module of all, `validate` refuses what no device has; then it
is a back-end's.

`contexts` is what Numba asks about our targets: `typing` and `lower` have the kernel language, `weak_literals`,
`half_typing` and `unaligned_fields` rules of our own. `late_…`, `remembered_calls`, `stored_…` and `variable_lives`
only save time. `numba_api` has every name that is taken from inside Numba, `intrinsics` all that is asked of a device.
"""
