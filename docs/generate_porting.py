"""Write docs/porting.md: every name of numba.cuda, and what it means here.

    python docs/generate_porting.py     `make docs-porting`

What exists is asked of the packages; topics, differences and reasons are in porting_data.py. A name that is neither
there nor listed as not offered is an error, and so is a listed one that is there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numba_metal  # noqa: E402  the project is not installed where documentation is built
import numba_ptxplus  # noqa: E402
from docs.porting_data import DIFFERENCES, NAMES, NOT_OFFERED, TESTS_THAT_DO_NOT_PASS  # noqa: E402
from numba_gpucore.cuda_api.devices import Context, GpuDevice  # noqa: E402
from numba_gpucore.cuda_api.driver_only import PTX_COMPILERS, REASONS  # noqa: E402
from numba_gpucore.launch.arrays import DeviceArray  # noqa: E402
from numba_gpucore.launch.kernel import ConfiguredKernel, Kernel  # noqa: E402
from numba_gpucore.launch.overloads import CompiledOverload  # noqa: E402
from numba_gpucore.launch.streams import Event, Stream  # noqa: E402

PAGE = ROOT / "docs" / "porting.md"
CLASSES: dict[str, type] = {
    "Kernel": Kernel,
    "ConfiguredKernel": ConfiguredKernel,
    "Overload": CompiledOverload,
    "DeviceArray": DeviceArray,
    "Stream": Stream,
    "Event": Event,
    "Device": GpuDevice,
    "Context": Context,
}
#: Attributes that objects get when they are made, so that their classes do not show them.
MADE_WITH_OBJECTS = frozenset(
    {
        "Kernel.specializations", "Kernel.extensions", "Kernel.py_func", "Overload.max_threads_per_block",
        "Overload.launch_config_sensitive", "Stream.external",
    }
)  # fmt: skip
HEAD = """# Programs for numba.cuda

One command runs a program unmodified: `python -m numba_metal run script.py` or `python -m numba_ptxplus run script.py`;
in code `numba_metal.install_as_cuda()` does the same. This page lists every name of numba.cuda (numba-cuda 0.30.4) and
what it means here. It is written by `make docs-porting` from the code; a test holds it to that.

*same*: as numba.cuda documents it. *differs*: how. *not offered*: why; using such a name raises NotOfferedError, or
AttributeError where there is nothing that programs could need it for.
"""
TESTS_HEAD = """## numba-cuda's own tests

{passing} of the {all} tests of numba-cuda 0.30.4 that are not about NVIDIA's texts, driver or front end pass on the CPU
device. These do not:

| test | reason |
|---|---|
"""


def has_name(package: ModuleType, name: str) -> bool:
    """Whether the package, or the class that the first part of the name stands for, has the name."""
    owner, _, attribute = name.rpartition(".")
    if owner:
        return name in MADE_WITH_OBJECTS or hasattr(CLASSES[owner], attribute)
    return hasattr(package, name)


def status_of(name: str) -> tuple[str, str]:
    """("same" | "differs" | "not offered", explanation). Raises ValueError where data and code contradict."""
    packages: list[Any] = [numba_ptxplus] if name in PTX_COMPILERS else [numba_ptxplus, numba_metal]
    exists = [has_name(package, name) for package in packages]
    if all(exists):
        if name in NOT_OFFERED:
            raise ValueError(f"{name} is listed as not offered, and exists")
        if name in REASONS and name not in DIFFERENCES:
            return "not offered", REASONS[name]
        return ("differs", DIFFERENCES[name]) if name in DIFFERENCES else ("same", "")
    if any(exists) or name not in NOT_OFFERED or name in DIFFERENCES:
        raise ValueError(f"{name} does not exist in all of {packages}, and is not listed as not offered")
    return "not offered", NOT_OFFERED[name]


def page() -> str:
    """The text of docs/porting.md."""
    return "\n".join([HEAD, *_name_tables(), *_test_table()])


def _name_tables() -> Iterator[str]:
    for topic, names in NAMES.items():
        alike: dict[tuple[str, str], list[str]] = {("same", ""): []}
        for name in names.split():
            alike.setdefault(status_of(name), []).append(f"`{name}`")
        yield f"## {topic}\n\n| name | here | |\n|---|---|---|"
        for (status, explanation), quoted in alike.items():
            if quoted:
                yield f"| {' '.join(quoted)} | {status} | {explanation} |".replace("|  |", "| |")
        yield ""


def _test_table() -> Iterator[str]:
    portable = (ROOT / "tests" / "peer" / "portable.txt").read_text(encoding="utf-8").split()
    unknown = sorted(set(TESTS_THAT_DO_NOT_PASS) - set(portable))
    if unknown:
        raise ValueError(f"no portable tests: {unknown}")
    passing = len(portable) - len(TESTS_THAT_DO_NOT_PASS)
    yield TESTS_HEAD.format(passing=passing, all=len(portable)).rstrip()
    for test, reason in sorted(TESTS_THAT_DO_NOT_PASS.items()):
        yield f"| {test.removeprefix('cudapy.')} | {reason} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
