"""The launch half: from a decorated function to a running kernel, without Numba. Before: base. After: target packages.

A call goes from `kernel` through `configure`, `signature`, `programs` and `marshal` to the device. What `programs`
does not have comes from `store`: from disk (`cache`), by what the function depends on (`fingerprint`), or from the
compiler, to which `miss` is the one door. `session` has what is open in a process; `raising` and `printing` tell what
threads did.
"""
