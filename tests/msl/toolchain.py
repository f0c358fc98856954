"""Finds a clang that reads C++ for OpenCL, and drives it. Before: nothing. After: checker.py, library.py.

Two installs give the same front end, clang 22: Debian's clang-22, or the wheel `ziglang` of the test extra, which needs
no root. What clang makes is kept in a folder of the user's, by a digest of everything that went in, as far as there is
room: what was not used for longest goes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import pickle
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

T = TypeVar("T")
#: What is kept at most: more than all tests of a checkout make.
CACHE_NBYTES = 256 << 20
#: What was used so recently stays, since a process may be about to load it.
_IN_USE_S = 600
FOLDER = Path(__file__).parent
INCLUDE = FOLDER / "include"
RUNTIME = FOLDER / "runtime"

MathMode = Literal["safe", "relaxed", "fast"]

# Warnings that mean that an emitter did something odd fail the check; those about text that is merely unused do not.
WARNINGS = [
    "-Wall", "-Wextra", "-Werror",
    "-fbracket-depth=256",  # clang's default for long; clang 22 allows more, Apple's may not
    "-Wno-unknown-attributes",  # [[buffer(0)]] and its kin: lint_kernel.py checks them
    "-Wno-unknown-pragmas",  # of Metal: lint_tokens.py checks them
    "-Wno-unused-variable", "-Wno-unused-const-variable", "-Wno-unused-parameter", "-Wno-unused-but-set-variable",
    "-Wno-unused-function", "-Wno-unused-value", "-Wno-unused-label", "-Wno-sign-compare", "-Wno-missing-braces",
    "-Wno-missing-field-initializers", "-Wno-parentheses-equality", "-Wno-self-assign", "-Wno-tautological-compare",
]  # fmt: skip
TRAPS = [
    "-fsanitize=signed-integer-overflow,integer-divide-by-zero,bounds,float-cast-overflow,unreachable,return,alignment,"
    "null",
    "-fsanitize-trap=all",
    "-fno-sanitize-recover=all",
]
# MSL spec, "Math Intrinsics Compiler Options": relaxed keeps NaN and infinity, fast does not. Contraction is on unless
# the source turns it off, as in Apple's compiler, so that an emitter that forgets to is found out.
MATH_FLAGS: dict[MathMode, list[str]] = {
    "safe": ["-fno-math-errno"],
    "relaxed": ["-ffast-math", "-fhonor-nans", "-fhonor-infinities"],
    "fast": ["-ffast-math"],
}


class CompileError(Exception):
    """clang refused its input; the text is what it said."""


@dataclass(frozen=True)
class Build:
    """How to make machine code. msl_version: (major, minor). trap_undefined: stop at undefined behaviour."""

    msl_version: tuple[int, int] = (3, 1)
    math_mode: MathMode = "safe"
    trap_undefined: bool = False
    opt: int = 2


@dataclass(frozen=True)
class Toolchain:
    """`command` runs clang; `kind` tells the two installs apart, which link differently."""

    command: tuple[str, ...]
    kind: Literal["clang", "zig"]
    version: str
    cache: Path
    cpu_flags: tuple[str, ...]

    def frontend_flags(self, msl_version: tuple[int, int]) -> list[str]:
        major, minor = msl_version
        return [
            "-x", "clcpp", "-cl-std=clc++2021", "-cl-no-stdinc", "-cl-single-precision-constant",
            "-Xclang", "-cl-ext=-all,+cl_khr_fp16,+__opencl_c_generic_address_space,"
                       "+__opencl_c_program_scope_global_variables",
            f"-D__METAL_VERSION__={100 * major + 10 * minor}", "-I", str(INCLUDE),
        ]  # fmt: skip

    def digest(self, *parts: str) -> str:
        """Of `parts`, this clang and everything that it includes or links."""
        digest = hashlib.sha256()
        for part in (self.version, *self.cpu_flags, *parts):
            digest.update(part.encode() + b"\0")
        for path in sorted([*INCLUDE.rglob("*.h"), *RUNTIME.glob("*")]):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:24]

    def run(self, arguments: list[str]) -> bytes:
        """Run clang; its output. Raises CompileError."""
        return _run([*self.command, *arguments])

    def precompiled_shim(self, flags: list[str]) -> list[str]:
        """Flags that use the shim headers, precompiled for exactly `flags`: saves 0.2 s a kernel."""
        header = INCLUDE / "mslshim" / "all.h"
        # the digest tells versions of the headers apart: times of files must not, which every checkout changes
        make = [*flags, "-c", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", str(header)]
        path = self.cache / f"shim-{self.digest(*make)}.pch"
        if not _is_kept(path):
            temporary = _temporary(path)
            self.run([*make, "-o", str(temporary)])
            temporary.rename(path)
        return ["-Xclang", "-include-pch", "-Xclang", str(path)]

    def syntax_tree(self, path: Path, msl_version: tuple[int, int]) -> bytes:
        """Type-check strictly; clang's JSON tree of the file without the shim. Raises CompileError."""
        flags = [*self.frontend_flags(msl_version), "-O0"]
        # Metal 2 and 3 are C++14, Metal 4 is C++17 (MSL spec, "Metal and C++").
        standard = ["-Wpre-c++17-compat"] if msl_version < (4, 0) else []
        dump = ["-fsyntax-only", "-Xclang", "-ast-dump=json", str(path)]
        return self.run([*flags, *self.precompiled_shim(flags), *WARNINGS, *standard, *dump])

    def kept_report(self, digest: str, make: Callable[[], T]) -> T:
        """What `make` gives, pickled in the cache under `digest`; from there where it was made before."""
        path = self.cache / f"report-{digest}.pickle"
        if not _is_kept(path):
            temporary = _temporary(path)
            temporary.write_bytes(pickle.dumps(make()))
            temporary.rename(path)
        return pickle.loads(path.read_bytes())

    def build_kernels(self, source: str, build: Build) -> Path:
        """A shared object of MSL and its thunks, from the cache or new. Raises CompileError."""
        flags = [
            *self.frontend_flags(build.msl_version), f"-O{build.opt}", "-fPIC", "-g1", *MATH_FLAGS[build.math_mode],
            "-ffp-contract=fast-honor-pragmas", "-fno-finite-loops", *self.cpu_flags,
            # schedule.c lets the lanes at the lowest address go on first, so code must stay in source order
            "-mllvm", "-disable-block-placement",
            "-fstack-clash-protection",  # a large frame must touch the guard page, not step over it
            *(TRAPS if build.trap_undefined else []),
        ]  # fmt: skip
        path = self.cache / f"kernel-{self.digest(*flags, source)}.so"
        if not _is_kept(path):
            text, object_path = _temporary(path, ".metal"), _temporary(path, ".o")
            text.write_text(source)
            self.run([*flags, *self.precompiled_shim(flags), "-w", "-c", str(text), "-o", str(object_path)])
            self._link(object_path, path)
            text.unlink()
            object_path.unlink()
        return path

    def _link(self, object_path: Path, path: Path) -> None:
        temporary = _temporary(path)
        # without the C run-time, so that .bss holds threadgroup variables only; libm and the run-time of RUNTIME are
        # resolved when it is loaded
        if self.kind == "zig":
            linker = [self.command[0], "ld.lld", "-shared", "-z", "norelro"]
        else:
            linker = [*self.command, "-shared", "-nostdlib", "-Wl,-z,norelro"]
        _run([*linker, str(object_path), "-o", str(temporary)])
        temporary.rename(path)

    def build_runtime(self) -> Path:
        """The shared object of RUNTIME."""
        path = self.cache / f"runtime-{self.digest()}.so"
        if not _is_kept(path):
            temporary = _temporary(path)
            compiler = [self.command[0], "cc"] if self.kind == "zig" else list(self.command)
            sources = sorted(map(str, RUNTIME.glob("*.c")))
            _run([*compiler, "-O2", "-fPIC", "-shared", "-fno-sanitize=all", *sources, "-lm", "-o", str(temporary)])
            temporary.rename(path)
        return path


def _temporary(path: Path, suffix: str = ".tmp") -> Path:
    """A name beside `path` that no other process uses."""
    return path.with_suffix(f".{os.getpid()}{suffix}")


def _is_kept(path: Path) -> bool:
    """Whether the cache has the file; notes that it is used."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def trim_cache(cache: Path, limit_nbytes: int) -> None:
    """Remove what was not used for longest until the rest takes at most `limit_nbytes`; other processes may too."""
    files = []
    for entry in os.scandir(cache):
        with contextlib.suppress(FileNotFoundError):
            files.append((entry.stat().st_mtime, entry.stat().st_size, Path(entry)))
    excess_nbytes = sum(nbytes for _used, nbytes, _path in files) - limit_nbytes
    for _used, nbytes, path in sorted(files):
        if excess_nbytes <= 0:
            return
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime > time.time() - _IN_USE_S:
                continue
            path.unlink()
        excess_nbytes -= nbytes


def _run(command: list[str]) -> bytes:
    process = subprocess.run(command, capture_output=True)
    if process.returncode:
        raise CompileError(process.stderr.decode(errors="replace"))
    return process.stdout


def _find_command(kind: str) -> tuple[tuple[str, ...], Literal["clang", "zig"]]:
    if kind in ("auto", "clang"):
        for name in ("clang-22", "clang-23", "clang-24"):
            if shutil.which(name):
                return (name,), "clang"
    if kind in ("auto", "zig"):
        spec = importlib.util.find_spec("ziglang")
        if spec and spec.submodule_search_locations:
            return (str(Path(spec.submodule_search_locations[0]) / "zig"), "clang"), "zig"
    raise RuntimeError("no clang 22 or later: apt-get install clang-22, or pip install ziglang")


def _cpu_flags() -> tuple[str, ...]:
    """F16C makes half conversions single instructions, FMA shows contraction."""
    cpuinfo = Path("/proc/cpuinfo")
    if platform.machine() == "x86_64" and cpuinfo.exists():
        known = cpuinfo.read_text()
        if all(f" {feature}" in known for feature in ("avx2", "f16c", "fma")):
            return ("-march=x86-64-v3",)
    return ()


@functools.cache
def find_toolchain(kind: str = "auto", *, plain_cpu: bool = False) -> Toolchain:
    """kind: "clang", "zig", or "auto", which prefers the system's clang. plain_cpu: no CPU extensions.

    Raises RuntimeError where there is none.
    """
    command, found = _find_command(kind)
    version = _run([*command, "--version"]).decode().splitlines()[0]
    cache = Path(tempfile.gettempdir()) / f"numba-metal-msl-{os.getuid()}"
    cache.mkdir(mode=0o700, exist_ok=True)
    trim_cache(cache, CACHE_NBYTES)
    return Toolchain(command, found, version, cache, () if plain_cpu else _cpu_flags())
