"""Our own wheel's build hook: the digest of our source, for cache keys. See numba_gpucore.base.own_source."""

from __future__ import annotations

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
        sys.path.insert(0, self.root)
        from numba_gpucore.base.own_source import DIGEST_FILE, digest_own_source  # noqa: PLC0415 - not importable before

        self._folder = tempfile.TemporaryDirectory(prefix="numba-metal-")
        path = Path(self._folder.name) / DIGEST_FILE
        path.write_text(digest_own_source() + "\n", encoding="ascii")
        build_data["force_include"][str(path)] = f"numba_gpucore/{DIGEST_FILE}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
