"""Host arrays that the device is told to work on in place. Before: mapped_array, managed_array. After: marshal.

An ordinary NumPy array with the methods of a device array, so that programs written for mapped or managed memory run.
Where the device cannot use host memory, a launch copies it there and back.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class MappedArray(np.ndarray):
    """`numba.cuda.mapped_array` and `managed_array`: memory that host and device share.

    A launch that takes one does not wait for the kernel on its account: synchronize before reading on the host.
    """

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """A copy as an ordinary array, or into `ary`."""
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self[...] = np.asarray(ary)
