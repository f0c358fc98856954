"""`python -m numba_metal cache …` and `warm …`, on a module with one declared signature.

Where nothing depends on it not in a process of its own, but as if: with a session, modules and settings of its own.
"""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest

import numba_metal
from numba_gpucore.base.errors import CacheWarning, OptionError
from numba_gpucore.launch import session
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.overload_files import OverloadFiles
from numba_gpucore.warm import command as command_module
from numba_gpucore.warm.command import main
from numba_gpucore.warm.compile_modules import WarmReport, WarmTask, warm_task

ROOT = Path(__file__).resolve().parents[2]

MODULE = """
import numba_metal

@numba_metal.jit("void(float32[::1], float32)")
def scale(x, factor):
    i = numba_metal.grid(1)
    if i < x.size:
        x[i] *= factor
"""

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `python ARGUMENTS` in a folder that has MODULE as `kernels.py`; `cache` names the cache folder."""
    (tmp_path / "kernels.py").write_text(MODULE)

    def run(*arguments: str, cache: str = "cache") -> subprocess.CompletedProcess[str]:
        variables = {"PYTHONPATH": str(ROOT), "NUMBA_METAL_DEVICE": "cpu", "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        environment = {**os.environ, **variables}
        line = [sys.executable, "-W", "error", *arguments]
        return subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


Act = Callable[..., tuple[int, str]]


@pytest.fixture
def act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Act]:
    """Exit status and all output of `python -m numba_metal LINE`, in a folder as that of `command`."""
    (tmp_path / "kernels.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def forget_modules() -> None:
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
                del sys.modules[name]

    def start_afresh(cache: str) -> None:
        importlib.invalidate_caches()
        forget_modules()
        variables = {
            "METAL_DEVICE": "cpu",
            "PTXPLUS_DEVICE": "cpu",
            "CACHE_DIR": str(tmp_path / cache) if cache else "",
        }
        for name, value in variables.items():
            monkeypatch.setenv(f"NUMBA_{name}", value)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "default"))
        monkeypatch.setattr(session, "_default", session.Session())

    def run(line: str, cache: str = "cache", package: str = "numba_metal") -> tuple[int, str]:
        def run_tasks(tasks: Sequence[WarmTask], _n_jobs: int) -> Iterator[WarmReport]:
            for task in tasks:
                start_afresh(cache)
                yield warm_task(task)

        monkeypatch.setattr(command_module, "run_tasks", run_tasks)
        start_afresh(cache)
        status = import_kernels() if line == "import kernels" else main(package, line.split())
        output = capsys.readouterr()
        return status, output.out + output.err

    yield run
    forget_modules()


def import_kernels() -> int:
    importlib.import_module("kernels")
    return 0


def test_verify_tells_a_miss_from_a_hit_and_keeps_nothing(act: Act, tmp_path: Path) -> None:
    for _ in range(2):
        status, output = act("cache verify kernels")
        assert status == 1
        assert "miss: kernels:scale(" in output and "0 found, 1 missing" in output
    assert act("import kernels")[0] == 0
    assert act("cache verify kernels") == (0, "1 found, 0 missing\n")


def test_verify_tells_what_is_wrong_with_a_module_and_goes_on(act: Act) -> None:
    assert act("import kernels")[0] == 0
    status, output = act("cache verify nowhere kernels:missing kernels")
    assert status == 1
    assert "nowhere: ModuleNotFoundError: No module named 'nowhere'\n" in output
    assert "kernels:missing: ValueError: kernels has no kernel 'missing'; its kernels are: scale\n" in output
    assert "1 found, 0 missing\n" in output


def test_list_of_a_package_that_is_not_there(act: Act) -> None:
    assert act("cache list nowhere") == (1, "numba_metal: there is no package nowhere\n")


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_help_tells_what_the_package_is_and_what_the_environment_chooses(package: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(package, ["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert "Numba kernels on" in text and f"{package.upper()}_DEVICE (auto, " in text and "NUMBA_CACHE_DIR" in text


def test_entries_are_listed_carried_and_deleted(act: Act, tmp_path: Path) -> None:
    assert act("import kernels")[0] == 0
    assert act("cache verify kernels:scale") == (0, "1 found, 0 missing\n")
    status, listing = act("cache list")
    assert status == 0 and listing.count("\n") == 1 and "scale(" in listing and " cpu " in listing
    assert act("cache export entries.tar")[1] == "wrote 1 entries to entries.tar\n"
    status, output = act("cache import entries.tar", cache="other")
    assert status == 0 and output.startswith("took 1 entries into ")
    assert act("cache verify kernels", cache="other") == (0, "1 found, 0 missing\n")
    assert act("cache clear")[1].startswith("deleted 1 entries of ")
    assert act("cache list") == (0, "")


def _write_archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_import_refuses_what_is_no_whole_entry_of_that_name(act: Act, tmp_path: Path) -> None:
    assert act("import kernels")[0] == 0
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    data = entry.read_bytes()
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    foreign = {entry.name: flipped, f"../{entry.name}": data, "f" * 40 + ".gpukernel": data, "readme": b"text"}
    _write_archive(tmp_path / "foreign.tar", foreign)
    status, output = act("cache import foreign.tar", cache="other")
    assert status == 1
    assert output.count("refused: ") == len(foreign) and "took 0 entries" in output
    assert not list(tmp_path.glob("other/*")) and not (tmp_path / entry.name).exists()


def test_each_decision_is_explained(act: Act, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DEBUG_CACHE", "1")
    first = act("import kernels")[1]
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    what = "[cache] scale(array(float32, 1d, C), float32): "
    assert first == f"{what}compiled: not in the cache\n{what}kept in {entry}\n"
    assert act("import kernels")[1] == f"{what}found in {entry}\n"
    entry.chmod(0o666)
    with pytest.warns(CacheWarning, match="can be written by others"):
        third = act("import kernels")[1]
    assert f"{what}compiled: {entry} can be written by others; kernels are machine code, so it is ignored\n" in third


def test_implementations_are_listed_carried_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `warm` without a module makes them; here three texts, one of which is cut off."""

    def act_here(*arguments: str, folder: str = "cache") -> tuple[int, str]:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / folder))
        status = main("numba_metal", ["cache", *arguments])
        output = capsys.readouterr()
        return status, output.out + output.err

    cache = DiskCache(str(tmp_path / "cache"))
    store = OverloadFiles((cache,), own_source=lambda: "source", keeps=True)
    for name in ("sum", "max", "min"):
        store.keep(name, f"text of {name}")
    damaged = Path(cache.overloads()[0])
    damaged.write_bytes(damaged.read_bytes()[:-1])
    status, listing = act_here("list")
    assert status == 1
    assert f"{damaged.name} is damaged: it is not what was stored" in listing
    assert "2 implementations of Numba's functions  made with " in listing and f"numba {numba.__version__}" in listing
    archive = str(tmp_path / "all.tar")
    assert act_here("export", archive) == (0, f"wrote 2 entries to {archive}\n")
    status, output = act_here("import", archive, folder="other")
    assert (status, output) == (0, f"took 2 entries into {tmp_path / 'other'}\n")
    other = OverloadFiles((DiskCache(str(tmp_path / "other")),), own_source=lambda: "source")
    assert sorted(filter(None, map(other.find, ("sum", "max", "min")))) == sorted(
        filter(None, map(store.find, ("sum", "max", "min")))
    )
    assert act_here("clear") == (0, f"deleted 3 entries of {cache.folder}\n")
    assert list(Path(cache.folder).iterdir()) == []


def test_import_of_what_is_no_archive(act: Act, tmp_path: Path) -> None:
    (tmp_path / "text.tar").write_text("no archive" * 200)
    status, output = act("cache import text.tar")
    assert status == 1
    assert output.startswith("numba_metal: text.tar is not an archive of cache entries")


def test_warm_compiles_declared_signatures_once(command: Command, act: Act, tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text(MODULE.replace("*=", "+="))
    child = command("-m", "numba_metal", "warm", "kernels", "more", "--jobs", "2")
    assert child.returncode == 0, child.stderr
    assert sorted(line.split("] ")[1].rpartition(",")[0] for line in child.stdout.splitlines()) == [
        "kernels: 1 compiled, 0 known",
        "more: 1 compiled, 0 known",
    ]
    assert act("cache verify kernels more") == (0, "2 found, 0 missing\n")
    assert "kernels: 0 compiled, 1 known" in act("warm kernels")[1]


def test_warm_tells_what_is_wrong_with_a_module_and_goes_on(act: Act, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise KeyError('unfinished')")
    status, output = act("warm broken kernels")
    assert status == 1
    assert "broken: KeyError: 'unfinished'" in output
    assert "kernels: 1 compiled, 0 known" in output


#: One kernel with a list of signatures to warm, and one that declares nothing.
LISTS = """
import numba_ptxplus

@numba_ptxplus.jit(warm=["void(float32[::1])", "void(float64[::1])"])
def double(x):
    i = numba_ptxplus.grid(1)
    if i < x.size:
        x[i] *= 2

@numba_ptxplus.jit
def other(x):
    x[0] = 1
"""

NJIT = """
import numba

@numba.njit("int64(int64)", cache=True)
def one_more(x):
    return x + 1
"""


def test_warm_lists_and_architectures(act: Act, tmp_path: Path) -> None:
    """2 signatures for 2 architectures are 4 kernels. x86-64-v2 is below every machine that tests run on or its own
    level, so what is found there would be found by its name only."""
    (tmp_path / "lists.py").write_text(LISTS)

    def warm(what: str, gpu: str = "sm_80") -> tuple[int, str]:
        return act(f"warm {what} --arch {gpu} --arch x86-64-v2", package="numba_ptxplus")

    status, first = warm("lists")
    assert status == 0, first
    assert "lists: 4 compiled, 0 known, " in first
    assert "lists: 0 compiled, 4 known, " in warm("lists")[1]
    listing = act("cache list")[1]
    assert listing.count(" cuda sm_80") == 2 and listing.count(" cpu x86-64-v2-") == 2
    assert "lists:double: 0 compiled, 4 known" in warm("lists:double")[1]
    status, unknown = warm("lists:triple")
    assert status == 1 and "lists has no kernel 'triple'; its kernels are: double, other" in unknown
    status, unknown = warm("lists", "sm_1")
    assert status == 1
    assert "unknown compute capability 'sm_1'" in unknown and "unknown processor level 'sm_1'" in unknown


def test_warm_counts_what_numba_keeps_of_its_own(command: Command, tmp_path: Path) -> None:
    (tmp_path / "njit.py").write_text(NJIT)
    line = ("-m", "numba_ptxplus", "warm", "njit")
    assert "njit: 0 compiled, 0 known; @njit: 1 compiled, 0 known" in command(*line).stdout
    assert "njit: 0 compiled, 0 known; @njit: 0 compiled, 1 known" in command(*line).stdout


UNKNOWN_ARCH = "no kernel can be compiled for 'smm_80': unknown version 'smm_80' of the Metal language"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cache verify broken", "broken: KeyError: 'unfinished'"),
        ("cache verify silent:scale", "kernel 'scale' has no declared signatures and no list `warm=[…]`"),
        ("cache verify kernels --arch smm_80", UNKNOWN_ARCH),
        ("cache list broken", "numba_metal: broken: KeyError: 'unfinished'"),
        ("cache list json", "numba_metal: package json ships no compiled kernels"),
        ("cache list zlib", "numba_metal: package zlib ships no compiled kernels"),
        ("cache import missing.tar", "missing.tar"),
        ("warm kernels --arch smm_80", UNKNOWN_ARCH),
        ("warm --arch sm_80", "numba_metal: --arch needs a MODULE"),
    ],
)
def test_what_cannot_be_done_is_told(act: Act, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "broken.py").write_text("raise KeyError('unfinished')")
    (tmp_path / "silent.py").write_text(MODULE.replace('("void(float32[::1], float32)")', ""))
    status, output = act(line)
    assert (status, message in output) == (1, True), output


def test_a_process_that_dies_is_told(command: Command, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\nos._exit(3)")
    child = command("-m", "numba_metal", "warm", "dies")
    assert child.returncode == 1
    assert "dies: the process that compiled it, or another beside it, died" in child.stderr
    assert "Traceback" not in child.stderr


@pytest.mark.parametrize("line", ["cache list", "cache clear", "cache export all.tar", "warm"])
def test_a_folder_that_cannot_be_used_is_told(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.chdir(tmp_path)
    assert main("numba_metal", line.split()) == 1
    assert f"{tmp_path / 'file'}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_archive_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    OverloadFiles((DiskCache(str(tmp_path / "cache")),), own_source=lambda: "source", keeps=True).keep("sum", "text")
    archive = tmp_path / "all.tar"
    archive.write_text("of last week")
    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    assert main("numba_metal", ["cache", "export", str(archive)]) == 1
    assert f"{archive} cannot be written: No space left on device" in capsys.readouterr().err
    assert archive.read_text() == "of last week"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar", "cache"]


def test_warm_tells_what_will_be_compiled_again(act: Act) -> None:
    status, output = act("warm kernels", cache="")
    assert status == 1
    assert "kernels: 1 compiled, 0 known" in output
    assert "1 of them will be compiled again: caching is off; set NUMBA_CACHE_DIR or cache=True" in output


def test_wrong_settings_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NUMBA_GPU_CACHE_NBYTES", "2 GB")
    assert main("numba_metal", ["cache", "list"]) == 1
    assert "NUMBA_GPU_CACHE_NBYTES must be a whole number from 1 on, not '2 GB'" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_told(
    act: Act, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert act("cache list") == (0, "")
    monkeypatch.setenv("NUMBA_METAL_DEVICE", "cpux")
    assert main("numba_metal", ["cache", "verify", "kernels"]) == 1
    assert "numba_metal: NUMBA_METAL_DEVICE must be one of auto, metal, cpu, not 'cpux'" in capsys.readouterr().err


def test_architectures_are_for_the_kernels_that_know_them(act: Act, tmp_path: Path) -> None:
    """A module with kernels of both packages: each named GPU is for one of them."""
    (tmp_path / "both.py").write_text(MODULE + MODULE.replace("numba_metal", "numba_ptxplus").replace("scale", "grow"))
    status, output = act("warm both --arch sm_80 --arch msl3.1")
    assert status == 0 and "both: 2 compiled, 0 known" in output
    assert act("cache verify both --arch sm_80 --arch msl3.1") == (0, "2 found, 0 missing\n")


def test_warm_lists_must_be_lists_of_signatures() -> None:
    with pytest.raises(OptionError, match="warm must be a list of signatures"):
        numba_metal.jit(warm="void(float32[::1])")


#: Prints how often it compiled, after checking what the kernel does: 1.5 * 2 = 3.
RACER = """
import numpy as np
from numba_gpucore.launch import miss

compile_kernel, n_compiled = miss.compile_kernel, 0

def count(*arguments):
    global n_compiled
    n_compiled += 1
    return compile_kernel(*arguments)

miss.compile_kernel = count
import kernels
x = np.full(64, 1.5, np.float32)
kernels.scale[2, 32](x, np.float32(2))
assert (x == 3).all()
print(n_compiled)
"""


def test_processes_that_start_on_an_empty_folder(command: Command, act: Act, tmp_path: Path) -> None:
    """All get right results, and the lock keeps all but one or two from compiling."""
    with ThreadPoolExecutor(20) as pool:
        children = list(pool.map(lambda _: command("-c", RACER), range(20)))
    assert [child.returncode for child in children] == [0] * 20, [child.stderr for child in children]
    assert sum(int(child.stdout) for child in children) in (1, 2)
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".gpukernel", ".gputext"]
    assert act("cache verify kernels") == (0, "1 found, 0 missing\n")
