"""hatchling's build hook "numba-gpu": compiled kernels in a package's wheel. Before: pip, build. After: launch.store.

A package says in its pyproject.toml, and has numba-metal in its `[build-system] requires`::

    [tool.hatch.build.hooks.numba-gpu]
    modules = ["mypackage.kernels"]              # MODULE or MODULE:KERNEL
    archs = ["x86-64-v3", "sm_80", "msl3.1"]     # default: a baseline of this machine's processors and system

Processors of other machines can be named too: a level of x86-64 (`x86-64`, `x86-64-v2` to `-v4`), `armv8-a` or
`apple-m1`, with the system behind it where that is another one (`-linux`, `-darwin`, `-win32`).
GPUs: `sm_…`, `msl…`.

The wheel then has a folder `__warm__` in the package, the outermost that has an `__init__.py`. It holds machine code
for one version of Python, so the wheel's tag names that; on other systems, and on processors below the baseline,
kernels are compiled as ever.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from numba_gpucore.cpu.arch import baseline_arch
from numba_gpucore.launch.cache import ENTRY_SUFFIX
from numba_gpucore.launch.store import WARM_FOLDER
from numba_gpucore.warm.ship import ShipError, ship_modules

_KEYS = frozenset({"modules", "archs"})
#: hatchling's own, for every hook.
_COMMON_KEYS = frozenset(
    {"dependencies", "enable-by-default", "require-runtime-dependencies", "require-runtime-features"}
)


class NumbaGpuBuildHook(BuildHookInterface):
    PLUGIN_NAME = "numba-gpu"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add the entries to the wheel. Editable installs get none: their sources change."""
        if self.target_name != "wheel" or version == "editable":
            return
        modules, archs = self._read_config()
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory(prefix="numba-gpu-")
        # Where hatchling found the packages: src/ or the project's folder, or what the project says.
        sources = [(root / package).parent for package in self.build_config.packages]
        shipped = ship_modules(modules, archs, [*sources, root / "src", root], Path(self._folder.name))
        for package, folder in shipped:
            for entry in sorted(folder.glob("*" + ENTRY_SUFFIX)):
                target = f"{package.replace('.', '/')}/{WARM_FOLDER}/{entry.name}"
                build_data["force_include"][str(entry)] = target
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-any"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    def _read_config(self) -> tuple[list[str], list[str]]:
        name = f"[tool.hatch.build.hooks.{self.PLUGIN_NAME}]"
        unknown = sorted(set(self.config) - _KEYS - _COMMON_KEYS)
        if unknown:
            raise ShipError(f"{name}: unknown key {', '.join(unknown)}; the keys are {', '.join(sorted(_KEYS))}")
        modules, archs = self.config.get("modules"), self.config.get("archs", [baseline_arch()])
        for key, value in (("modules", modules), ("archs", archs)):
            if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
                raise ShipError(f"{name}: {key} must be a list of texts, not {value!r}")
        return modules or [], archs


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface]:
    return NumbaGpuBuildHook
