"""Our own wheel's build hook. Before: pip, build. After: numba_gpucore.base.own_source, launch.overload_files.

Adds the digest of our source, which stands in cache keys. With NUMBA_GPU_BUILD_WARM=1, as `make wheel` sets it, also
what `python -m numba_metal warm` makes, for the running Python and the versions of Numba and llvmlite that are there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OwnBuildHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="numba-metal-")
        folder = Path(self._folder.name)
        sys.path.insert(0, self.root)
        from numba_gpucore.base.own_source import DIGEST_FILE, digest_own_source  # noqa: PLC0415 - on the path now

        digest = folder / DIGEST_FILE
        digest.write_text(digest_own_source() + "\n", encoding="ascii")
        build_data["force_include"][str(digest)] = f"numba_gpucore/{DIGEST_FILE}"
        if os.environ.get("NUMBA_GPU_BUILD_WARM") == "1":
            from numba_gpucore.launch.store import WARM_FOLDER  # noqa: PLC0415 - as above

            for path in self._run_workloads(folder / "cache"):
                build_data["force_include"][str(path)] = f"numba_gpucore/{WARM_FOLDER}/{path.name}"
            build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-none-any"

    def _run_workloads(self, cache: Path) -> list[Path]:
        """Lower the workload of both targets, at the same time. Raises RuntimeError if one fails."""
        neutral = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        environment = {**neutral, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": self.root}
        lines = [[sys.executable, "-m", package, "warm"] for package in ("numba_metal", "numba_ptxplus")]
        children = [subprocess.Popen(line, env=environment, stdout=sys.stderr) for line in lines]
        statuses = [child.wait() for child in children]
        if any(statuses):
            raise RuntimeError("the workload could not be lowered; see above")
        from numba_gpucore.launch.cache import OVERLOAD_SUFFIX  # noqa: PLC0415 - as above

        return sorted(cache.glob("*" + OVERLOAD_SUFFIX))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
