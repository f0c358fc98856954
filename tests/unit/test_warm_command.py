"""`python -m numba_metal cache …` in processes of their own, on a module with one declared signature."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest

from numba_gpucore.launch import session
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.launch.overload_files import OverloadFiles
from numba_gpucore.warm.command import main

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
    """Run `python ARGUMENTS` in a folder that has MODULE as `kernels.py`; `cache` names the cache folder, if any."""
    (tmp_path / "kernels.py").write_text(MODULE)

    def run(*arguments: str, cache: str = "cache", expects_warning: bool = False) -> subprocess.CompletedProcess[str]:
        variables = {"PYTHONPATH": str(ROOT), "NUMBA_METAL_DEVICE": "cpu", "XDG_CACHE_HOME": str(tmp_path / "default")}
        variables["NUMBA_CACHE_DIR"] = str(tmp_path / cache) if cache else ""
        environment = {**os.environ, **variables}
        line = [sys.executable, *(() if expects_warning else ("-W", "error")), *arguments]
        return subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def act(command: Command, *arguments: str, **keywords: str) -> tuple[int, str]:
    """Exit status and all output of `python -m numba_metal cache ARGUMENTS`."""
    child = command("-m", "numba_metal", "cache", *arguments, **keywords)
    return child.returncode, child.stdout + child.stderr


def test_verify_tells_a_miss_from_a_hit_and_keeps_nothing(command: Command, tmp_path: Path) -> None:
    for _ in range(2):
        status, output = act(command, "verify", "kernels")
        assert status == 1
        assert "miss: kernels:scale(" in output and "0 found, 1 missing" in output
    assert command("-c", "import kernels").returncode == 0
    assert act(command, "verify", "kernels") == (0, "1 found, 0 missing\n")


def test_verify_tells_what_is_wrong_with_a_module_and_goes_on(command: Command) -> None:
    assert command("-c", "import kernels").returncode == 0
    status, output = act(command, "verify", "nowhere", "kernels:missing", "kernels")
    assert status == 1
    assert "nowhere: ModuleNotFoundError: No module named 'nowhere'\n" in output
    assert "kernels:missing: ValueError: kernels has no kernel 'missing'; its kernels are: scale\n" in output
    assert "1 found, 0 missing\n" in output


def test_list_of_a_package_that_is_not_there(command: Command) -> None:
    assert act(command, "list", "nowhere") == (1, "numba_metal: there is no package nowhere\n")


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_help_tells_what_the_package_is_and_what_the_environment_chooses(package: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(package, ["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert "Numba kernels on" in text and f"{package.upper()}_DEVICE (auto, " in text and "NUMBA_CACHE_DIR" in text


def test_entries_are_listed_carried_and_deleted(command: Command, tmp_path: Path) -> None:
    assert command("-c", "import kernels").returncode == 0
    assert act(command, "verify", "kernels:scale") == (0, "1 found, 0 missing\n")
    status, listing = act(command, "list")
    assert status == 0 and listing.count("\n") == 1 and "scale(" in listing and " cpu " in listing
    assert act(command, "export", "entries.tar")[1] == "wrote 1 entries to entries.tar\n"
    status, output = act(command, "import", "entries.tar", cache="other")
    assert status == 0 and output.startswith("took 1 entries into ")
    assert act(command, "verify", "kernels", cache="other") == (0, "1 found, 0 missing\n")
    assert act(command, "clear")[1].startswith("deleted 1 entries of ")
    assert act(command, "list") == (0, "")


def _write_archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_import_refuses_what_is_no_whole_entry_of_that_name(command: Command, tmp_path: Path) -> None:
    assert command("-c", "import kernels").returncode == 0
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    data = entry.read_bytes()
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    foreign = {entry.name: flipped, f"../{entry.name}": data, "f" * 40 + ".gpukernel": data, "readme": b"text"}
    _write_archive(tmp_path / "foreign.tar", foreign)
    status, output = act(command, "import", "foreign.tar", cache="other")
    assert status == 1
    assert output.count("refused: ") == len(foreign) and "took 0 entries" in output
    assert not list(tmp_path.glob("other/*")) and not (tmp_path / entry.name).exists()


def test_each_decision_is_explained(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DEBUG_CACHE", "1")
    first = command("-c", "import kernels").stderr
    (entry,) = (tmp_path / "cache").glob("*.gpukernel")
    what = "[cache] scale(array(float32, 1d, C), float32): "
    assert first == f"{what}compiled: not in the cache\n{what}kept in {entry}\n"
    assert command("-c", "import kernels").stderr == f"{what}found in {entry}\n"
    entry.chmod(0o666)
    third = command("-c", "import kernels", expects_warning=True).stderr
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


def test_import_of_what_is_no_archive(command: Command, tmp_path: Path) -> None:
    (tmp_path / "text.tar").write_text("no archive" * 200)
    status, output = act(command, "import", "text.tar")
    assert status == 1
    assert output.startswith("numba_metal: text.tar is not an archive of cache entries")


def test_warm_compiles_declared_signatures_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text(MODULE.replace("*=", "+="))
    child = command("-m", "numba_metal", "warm", "kernels", "more", "--jobs", "2")
    assert child.returncode == 0, child.stderr
    assert sorted(line.split("] ")[1].rpartition(",")[0] for line in child.stdout.splitlines()) == [
        "kernels: 1 compiled, 0 known",
        "more: 1 compiled, 0 known",
    ]
    assert act(command, "verify", "kernels", "more") == (0, "2 found, 0 missing\n")
    assert "kernels: 0 compiled, 1 known" in command("-m", "numba_metal", "warm", "kernels").stdout


def test_warm_tells_what_is_wrong_with_a_module_and_goes_on(command: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise KeyError('unfinished')")
    child = command("-m", "numba_metal", "warm", "broken", "kernels", "--jobs", "1")
    assert child.returncode == 1
    assert "broken: KeyError: 'unfinished'" in child.stderr
    assert "kernels: 1 compiled, 0 known" in child.stdout


#: One kernel with a list of signatures to warm, one that declares nothing, and one of Numba's own functions.
LISTS = """
import numba
import numba_ptxplus

@numba_ptxplus.jit(warm=["void(float32[::1])", "void(float64[::1])"])
def double(x):
    i = numba_ptxplus.grid(1)
    if i < x.size:
        x[i] *= 2

@numba_ptxplus.jit
def other(x):
    x[0] = 1

@numba.njit("int64(int64)", cache=True)
def one_more(x):
    return x + 1
"""


def test_warm_lists_architectures_and_njit_functions(command: Command, tmp_path: Path) -> None:
    """2 signatures for 2 architectures are 4 kernels; Numba keeps its own function. x86-64-v2 is below every machine
    that tests run on or its own level, so what is found there would be found by its name only."""
    (tmp_path / "lists.py").write_text(LISTS)
    arguments = ("-m", "numba_ptxplus", "warm", "lists", "--arch", "sm_80", "--arch", "x86-64-v2", "--jobs", "1")
    first = command(*arguments)
    assert first.returncode == 0, first.stderr
    assert "lists: 4 compiled, 0 known; @njit: 1 compiled, 0 known" in first.stdout
    assert "lists: 0 compiled, 4 known; @njit: 0 compiled, 1 known" in command(*arguments).stdout
    listing = act(command, "list")[1]
    assert listing.count(" cuda sm_80") == 2 and listing.count(" cpu x86-64-v2-") == 2
    assert (
        "lists:double: 0 compiled, 4 known" in command(*(a.replace("lists", "lists:double") for a in arguments)).stdout
    )
    unknown = command(*(a.replace("lists", "lists:triple") for a in arguments))
    assert unknown.returncode == 1
    assert "lists has no kernel 'triple'; its kernels are: double, other" in unknown.stderr
    unknown = command(*(a.replace("sm_80", "sm_1") for a in arguments))
    assert unknown.returncode == 1
    assert "unknown compute capability 'sm_1'" in unknown.stderr and "unknown processor level 'sm_1'" in unknown.stderr


def test_what_cannot_be_done_is_told_without_a_traceback(command: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise KeyError('unfinished')")
    (tmp_path / "silent.py").write_text(MODULE.replace('("void(float32[::1], float32)")', ""))
    (tmp_path / "dies.py").write_text("import os\nos._exit(3)")
    unknown = "no kernel can be compiled for 'smm_80': unknown version 'smm_80' of the Metal language"
    for line, message in {
        "cache verify broken": "broken: KeyError: 'unfinished'",
        "cache verify silent:scale": "kernel 'scale' has no declared signatures and no list `warm=[…]`",
        "warm kernels --arch smm_80": unknown,
        "warm dies": "dies: the process that compiled it, or another beside it, died",
    }.items():
        child = command("-m", "numba_metal", *line.split())
        assert (child.returncode, message in child.stderr) == (1, True), (line, child.stdout, child.stderr)
        assert "Traceback" not in child.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cache list broken_package", "numba_metal: broken_package: KeyError: 'unfinished'"),
        ("cache list json", "numba_metal: package json ships no compiled kernels"),
        ("cache list zlib", "numba_metal: package zlib ships no compiled kernels"),
        ("cache import missing.tar", "missing.tar"),
        ("warm --arch sm_80", "numba_metal: --arch needs a MODULE"),
    ],
)
def test_what_cannot_be_done_here_is_told(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken_package.py").write_text("raise KeyError('unfinished')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main("numba_metal", line.split()) == 1
    assert message in capsys.readouterr().err


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


def test_warm_tells_what_will_be_compiled_again(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    child = command("-m", "numba_metal", "warm", "kernels", cache="")
    assert child.returncode == 1
    assert "kernels: 1 compiled, 0 known" in child.stdout
    assert "1 of them will be compiled again: caching is off; set NUMBA_CACHE_DIR or cache=True" in child.stderr


def test_wrong_settings_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NUMBA_GPU_CACHE_NBYTES", "2 GB")
    assert main("numba_metal", ["cache", "list"]) == 1
    assert "NUMBA_GPU_CACHE_NBYTES must be a whole number from 1 on, not '2 GB'" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kernels_of_metal.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NUMBA_METAL_DEVICE", "cpux")
    monkeypatch.setattr(session, "_default", session.Session())
    assert main("numba_metal", ["cache", "verify", "kernels_of_metal"]) == 1
    assert "numba_metal: NUMBA_METAL_DEVICE must be one of auto, metal, cpu, not 'cpux'" in capsys.readouterr().err


def test_architectures_are_for_the_kernels_that_know_them(command: Command, tmp_path: Path) -> None:
    """A module with kernels of both packages: each named GPU is for one of them."""
    (tmp_path / "both.py").write_text(MODULE + MODULE.replace("numba_metal", "numba_ptxplus").replace("scale", "grow"))
    archs = ("--arch", "sm_80", "--arch", "msl3.1")
    child = command("-m", "numba_metal", "warm", "both", *archs)
    assert child.returncode == 0, child.stderr
    assert "both: 2 compiled, 0 known" in child.stdout
    assert act(command, "verify", "both", *archs) == (0, "2 found, 0 missing\n")


def test_warm_lists_must_be_lists_of_signatures(command: Command) -> None:
    child = command("-c", "import numba_metal; numba_metal.jit(warm='void(float32[::1])')")
    assert "OptionError: warm must be a list of signatures" in child.stderr


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


def test_processes_that_start_on_an_empty_folder(command: Command, tmp_path: Path) -> None:
    """All get right results, and the lock keeps all but one or two from compiling."""
    with ThreadPoolExecutor(20) as pool:
        children = list(pool.map(lambda _: command("-c", RACER), range(20)))
    assert [child.returncode for child in children] == [0] * 20, [child.stderr for child in children]
    assert sum(int(child.stdout) for child in children) in (1, 2)
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".gpukernel", ".gputext"]
    assert act(command, "verify", "kernels") == (0, "1 found, 0 missing\n")
