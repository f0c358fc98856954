"""How exact functions of reals are: one table of functions and bounds, for the tests and for docs/math.md.

`functions` says what is measured and what is allowed, `samples` on which arguments, `levels` runs kernels on the CPU
device, the PTX machine and emitted Metal text, `ulps` compares. `docs/generate_math.py` writes the figures down.
"""
