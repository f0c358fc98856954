"""Writes facts.json: what PyObjC's metadata says about the selectors, constants and functions that the double has.

    python -m tests.metal_double.generate_facts [WHEEL]

Without a wheel, the macOS one of pyobjc-framework-Metal is downloaded. Its `_metadata.py` is run with a recording
stand-in for `objc`; only names, types and values are kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import types
import zipfile
from pathlib import Path
from typing import Any

from tests.metal_double.modules import CLASSES, FUNCTIONS
from tests.metal_double.objc_objects import FACTS_PATH, selectors_of

_ENUM_PREFIXES = (
    "MTLCommandBufferError",
    "MTLCommandBufferStatus",
    "MTLGPUFamily",
    "MTLLanguageVersion",
    "MTLMathFloatingPointFunctions",
    "MTLMathMode",
    "MTLPipelineOption",
    "MTLResourceStorageMode",
    "MTLResourceUsage",
)
_STRUCTS = ("MTLSize",)


class _Recorder(types.ModuleType):
    """As much of `objc` as `_metadata.py` calls."""

    arch = "arm64"

    def __init__(self) -> None:
        super().__init__("objc")
        self.selectors: dict[str, dict[str, Any]] = {}
        self.structs: dict[str, list[str]] = {}

    def registerMetaDataForSelector(self, _class: bytes, selector: bytes, metadata: dict[str, Any]) -> None:
        self.selectors.setdefault(selector.decode(), metadata)

    def createStructType(self, name: str, _encoding: bytes, fields: list[str]) -> None:
        self.structs[name.rpartition(".")[2]] = fields

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_keywords: None


def read_metadata(wheel: Path) -> tuple[_Recorder, dict[str, Any]]:
    """Run `Metal/_metadata.py` of a wheel; what it registered, and its globals."""
    source = zipfile.ZipFile(wheel).read("Metal/_metadata.py").decode()
    recorder = _Recorder()
    namespace: dict[str, Any] = {}
    before = sys.modules.get("objc")
    sys.modules["objc"] = recorder
    try:
        exec(compile(source, "_metadata.py", "exec"), namespace)
    finally:
        if before is None:
            del sys.modules["objc"]
        else:
            sys.modules["objc"] = before
    return recorder, namespace


def _text(type_: Any) -> str:
    return type_.decode() if isinstance(type_, bytes) else str(type_)


def collect_facts(wheel: Path) -> dict[str, Any]:
    recorder, namespace = read_metadata(wheel)
    wanted = {name for cls in CLASSES for name in selectors_of(cls)}
    enums = dict(re.findall(r"\$(\w+)@(-?\d+)", namespace["enums"]))
    selectors = {}
    for name in sorted(wanted & set(recorder.selectors)):
        arguments = recorder.selectors[name].get("arguments", {})
        # Objective-C's own two arguments come first; what has no entry is of a plain type that PyObjC asks the run-time
        selectors[name] = {
            "arguments": [_text(arguments.get(2 + i, {}).get("type", "?")) for i in range(name.count(":"))]
        }
    return {
        "wheel": wheel.name,
        "enums": {name: int(enums[name]) for name in sorted(enums) if name.startswith(_ENUM_PREFIXES)},
        "functions": {name: _text(namespace["functions"][name][0]) for name in FUNCTIONS},
        "structs": {name: recorder.structs[name] for name in _STRUCTS},
        "selectors": selectors,
    }


def download_wheel(folder: str) -> Path:
    command = [sys.executable, "-m", "pip", "download", "pyobjc-framework-Metal", "--platform", "macosx_11_0_arm64"]
    subprocess.run([*command, "--only-binary=:all:", "--no-deps", "--dest", folder], check=True)
    return next(Path(folder).glob("*.whl"))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else download_wheel(folder)
        FACTS_PATH.write_text(json.dumps(collect_facts(wheel), indent=1) + "\n")


if __name__ == "__main__":
    main()
