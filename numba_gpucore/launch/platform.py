"""A target together with the back-ends that can run it. Before: a target package. After: jit, Kernel, session."""

from __future__ import annotations

from types import ModuleType

from numba_gpucore.base.records import dataclass
from numba_gpucore.base.target import Target


@dataclass(frozen=True)
class Platform:
    """`backends` gives for each name in `target.backends` where its Backend lives, as "module:NAME"; the module is
    imported when a device is first looked for."""

    target: Target
    backends: tuple[tuple[str, str], ...]

    def backend_path(self, kind: str) -> str:
        """Where a back-end lives, as "module:NAME". Raises KeyError."""
        return dict(self.backends)[kind]


def platform_of(package: ModuleType) -> Platform:
    """The platform to which a target package's `jit` is bound (cuda_api.names)."""
    platform: Platform = package.jit.args[0]
    return platform
