"""`python -m numba_metal`: see numba_gpucore.command_line."""

from __future__ import annotations

import sys

from numba_gpucore.command_line import main

if __name__ == "__main__":
    sys.exit(main("numba_metal"))
