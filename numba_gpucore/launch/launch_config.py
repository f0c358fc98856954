"""The launch that a kernel is being compiled for, for code that takes part in that. Before: Kernel. After: rewrites.

numba.cuda's `launchconfig`: known only while a launch compiles, and only to the thread that launches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba_gpucore.base.backend import Dim3


class LaunchDescription:
    """What is launched: numba.cuda's attributes. `dispatcher` is the kernel, sharedmem in bytes, stream 0 or a Stream.

    is_sensitive: the code that is made holds for this configuration only.
    """

    def __init__(self, dispatcher: Any, griddim: Dim3, blockdim: Dim3, sharedmem: int, stream: Any, args: Any):
        self.dispatcher = dispatcher
        self.griddim = griddim
        self.blockdim = blockdim
        self.sharedmem = sharedmem
        self.stream = stream
        self.args = args
        self.is_sensitive = False


class CompilingLaunch:
    """The description of each thread's launch that compiles; one object a session."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def current(self) -> LaunchDescription | None:
        return getattr(self._local, "description", None)

    @contextmanager
    def described_by(self, description: LaunchDescription) -> Iterator[LaunchDescription]:
        """Let code inside the `with` block see the description."""
        before = self.current
        self._local.description = description
        try:
            yield description
        finally:
            self._local.description = before

    @property
    def is_sensitive(self) -> bool:
        """Whether what is being compiled holds for one launch configuration only, and so cannot be kept on disk."""
        return self.current is not None and self.current.is_sensitive
