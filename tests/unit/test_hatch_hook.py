"""A package built with the hook launches its kernels without compiling: in a fresh environment, with an empty cache.

The wheel is built by pip with hatchling and installed in an environment of its own, which sees NumPy, Numba and our
sources through a path file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from numba_gpucore.base.own_source import DIGEST_FILE, digest_own_source
from numba_gpucore.cpu.arch import Platform, host_arch

ROOT = Path(__file__).resolve().parents[2]

#: The lowest level of this machine, and one that it is not.
THIS = "x86-64" if host_arch().startswith("x86-64") else host_arch()
OTHER, OTHER_PLATFORM = (
    ("x86-64-win32", Platform("win32", "amd64")) if "apple" in THIS else ("apple-m1", Platform("darwin", "arm64"))
)

MODULES = '["company.smoothing", "company.smoothing.kernels"]'
PROJECT = f"""
[build-system]
requires = ["hatchling", "numba-metal"]
build-backend = "hatchling.build"

[project]
name = "smoothing"
version = "1.0"

[tool.hatch.build.targets.wheel]
packages = ["lib/company"]

[tool.hatch.build.hooks.numba-gpu]
modules = {MODULES}
archs = ["{THIS}", "{OTHER}", "sm_80", "msl3.1"]
"""

#: `company` is a namespace package, so what is compiled lies in the package inside.
PACKAGE = """
import numba_metal

@numba_metal.jit("void(float32[::1], float32)")
def scale(x, factor):
    i = numba_metal.grid(1)
    x[i] *= factor
"""

KERNELS = """
import os
import numba_ptxplus
from company.smoothing.overloads import third

if "IMPORT_LOG" in os.environ:
    with open(os.environ["IMPORT_LOG"], "a") as log:
        print(__name__, file=log)

@numba_ptxplus.jit(warm=["void(float32[::1], float32[::1])"])
def smooth(x, out):
    i = numba_ptxplus.grid(1)
    if 0 < i < x.size - 1:
        out[i] = third(x[i - 1] + x[i] + x[i + 1])
"""

WRONG = """
import numba_ptxplus

@numba_ptxplus.jit("void(float32[::1])")
def one(x):
    x[0] = unknown

@numba_ptxplus.jit("void(float32[::1])")
def two(x):
    x[0] = unknown
"""

OVERLOADS = """
from numba.extending import overload

def third(x):
    raise NotImplementedError

@overload(third)
def _third(x):
    return lambda x: x / 3
"""

#: 2 * 3 = 6; the mean of 1, 2, 3 is 2. An index error shows its place in the installed file.
PROGRAM = """
import sys
import numpy as np
import company.smoothing
from company.smoothing import kernels, scale

x = np.full(64, 2, np.float32)
scale[2, 32](x, np.float32(3))
assert (x == 6).all()
compiler_after_first = "numba_gpucore.compile" in sys.modules
out = np.zeros(3, np.float32)
kernels.smooth[1, 32](np.array([1, 2, 3], np.float32), out)
assert out[1] == 2
try:
    scale[3, 32](x, np.float32(3))
except IndexError as error:
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    assert place.tb_frame.f_code.co_filename == company.smoothing.__file__, place.tb_frame.f_code.co_filename
else:
    raise AssertionError("index 64 of 64 was not noticed")
print(len(scale.stats.hits), len(scale.stats.misses))
print(len(kernels.smooth.stats.hits), len(kernels.smooth.stats.misses))
print("numba_gpucore.compile" in sys.modules)
"""


def run(*line: str | Path, cwd: Path, variables: Mapping[str, str]) -> str:
    """Standard output of a child process, which must succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    child = subprocess.run(
        [str(part) for part in line],
        cwd=cwd,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout


@pytest.fixture(scope="module")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Metadata by which hatchling finds our hook, where we are not installed or were before there was one."""
    folder = tmp_path_factory.mktemp("metadata")
    metadata = folder / "numba_metal_hook-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: numba-metal-hook\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text("[hatch]\nnumba-gpu = numba_gpucore.warm.hatch_hook\n")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").write_text(PROJECT)
    package = folder / "lib" / "company" / "smoothing"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (folder / "single.py").write_text("")
    (package / "kernels.py").write_text(KERNELS)
    (package / "overloads.py").write_text(OVERLOADS)
    (package / "wrong.py").write_text(WRONG)
    return folder


#: Where to, and of what, come behind.
BUILD_WHEEL = (
    *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"),
    *("--disable-pip-version-check", "--wheel-dir"),
)


def build(project: Path, plugin_folder: Path) -> str:
    """What pip prints when it has built the wheel into project/dist. imports.log tells of imports of the kernels."""
    path = os.pathsep.join((str(ROOT), str(plugin_folder)))
    variables = {"PYTHONPATH": path, "IMPORT_LOG": str(project / "imports.log")}
    return run(*BUILD_WHEEL, "dist", ".", cwd=project, variables=variables)


@pytest.fixture(scope="module")
def wheel(project: Path, plugin_folder: Path) -> Path:
    build(project, plugin_folder)
    (wheel,) = (project / "dist").iterdir()
    return wheel


def test_wheel_holds_an_entry_for_each_kernel_and_architecture(wheel: Path) -> None:
    """scale and smooth for the processors, smooth for sm_80, scale for Metal: 2 * 2 + 2 entries."""
    assert wheel.name == f"smoothing-1.0-cp{sys.version_info.major}{sys.version_info.minor}-none-any.whl"
    names = [name for name in zipfile.ZipFile(wheel).namelist() if "__warm__" in name]
    assert len(names) == 6
    assert all(name.startswith("company/smoothing/__warm__/") and name.endswith(".gpukernel") for name in names)


@pytest.fixture(scope="module")
def installed_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has the wheel."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment, variables={})
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-deps", "--no-index", wheel, cwd=environment, variables={})
    (site_packages,) = (Path(p) for p in {sysconfig.get_path("purelib", vars={"base": str(environment)})})
    (site_packages / "visible.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    return python


def test_installed_package_compiles_nothing(installed_python: Path, tmp_path: Path) -> None:
    python = installed_python
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o500)
    variables = {"NUMBA_CACHE_DIR": str(cache), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"}
    hits = run(python, "-W", "error", "-c", PROGRAM, cwd=tmp_path, variables=variables)
    assert hits.split() == ["1", "0", "1", "0", "False"]
    assert not list(cache.glob("*.gpukernel")), "something was kept, although root may write anywhere"
    listing = run(python, "-m", "numba_metal", "cache", "list", "company.smoothing", cwd=tmp_path, variables=variables)
    assert listing.count("made with llvmlite ") == 6
    assert listing.count(" cuda sm_80 ") == 1 and listing.count(" metal apple-msl3.1 ") == 1


#: Before anything of ours has looked at versions.
UPGRADE = """
from numba_gpucore.base import versions

versions.version_of = lambda package: "99.9"
"""


def test_an_upgrade_changes_nothing(installed_python: Path, tmp_path: Path) -> None:
    """Machine code of a package is right whatever the versions of NumPy, Numba and llvmlite are."""
    variables = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"}
    line = (installed_python, "-W", "error", "-c", UPGRADE + PROGRAM)
    assert run(*line, cwd=tmp_path, variables=variables).split() == ["1", "0", "1", "0", "False"]


#: `cache verify` as it would be on another platform.
VERIFY_ELSEWHERE = """
import sys
from numba_gpucore.cpu import arch

arch.this_platform = lambda: arch.{platform}
from numba_gpucore.warm.command import main

sys.exit(main("numba_metal", ["cache", "verify", "company.smoothing", "company.smoothing.kernels"]))
"""


def test_kernels_are_compiled_once_for_a_wheel(wheel: Path) -> None:
    """pip asks for metadata first, then for the wheel."""
    assert (wheel.parent.parent / "imports.log").read_text() == "company.smoothing.kernels\n"


def test_another_platform_finds_its_kernels(installed_python: Path, tmp_path: Path) -> None:
    variables = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_PTXPLUS_DEVICE": "cpu"}
    line = (installed_python, "-W", "error", "-c", VERIFY_ELSEWHERE.format(platform=OTHER_PLATFORM))
    assert run(*line, cwd=tmp_path, variables=variables) == "2 found, 0 missing\n"


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (MODULES, "[]", ["modules must be a list of texts, not []"]),
        (MODULES, '["lib/company/smoothing"]', ["'lib/company/smoothing' is neither MODULE nor MODULE:KERNEL"]),
        ("archs = ", "arcs = ", ["unknown key arcs; the keys are archs, modules"]),
        (
            MODULES,
            '["company.missing", "company.smoothing.overloads", "single", "company.smoothing.wrong"]',
            [
                "company.missing: ModuleNotFoundError",
                "company.smoothing.overloads: it has no kernel with declared signatures",
                "single: ShipError: it is a module by itself; kernels lie in a package's folder",
                "company.smoothing.wrong: TypingError: kernel 'one' cannot be compiled",
                "company.smoothing.wrong: TypingError: kernel 'two' cannot be compiled",
            ],
        ),
    ],
)
def test_what_is_wrong_is_told(project: Path, plugin_folder: Path, old: str, new: str, messages: list[str]) -> None:
    good = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(good.replace(old, new))
    try:
        with pytest.raises(AssertionError) as failure:
            build(project, plugin_folder)
    finally:
        (project / "pyproject.toml").write_text(good)
    assert [message for message in messages if message not in str(failure.value)] == []


def test_our_own_wheel_carries_the_digest_of_its_source(tmp_path: Path) -> None:
    run(*BUILD_WHEEL, tmp_path, ROOT, cwd=tmp_path, variables={})
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"numba_gpucore/{DIGEST_FILE}").decode()
    assert text.strip() == digest_own_source()
