"""`python -m numba_ptxplus`: see numba_gpucore.warm.command."""

from __future__ import annotations

import sys

from numba_gpucore.warm.command import main

if __name__ == "__main__":
    sys.exit(main("numba_ptxplus"))
