"""Kernels that cannot be compiled, each for reasons that a user meets. Before: nothing. After: test_messages.

`WRONG` in the order of the modules: (kernel, arguments). Functions that kernels call are in `given`.
"""

from tests.errors.wrong_kernels import memory, names, operands, python, statements  # noqa: F401 - they fill WRONG, in this order
from tests.errors.wrong_kernels.given import WRONG

__all__ = ["WRONG"]
