"""`python -m numba_metal warm …`, on a module with one declared signature."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import numba_metal
from numba_gpucore.base.errors import OptionError
from numba_gpucore.launch import miss
from numba_gpucore.warm.command import main

if TYPE_CHECKING:
    from tests.unit.warm_commands import Act, Command

pytest_plugins = ["tests.unit.warm_commands"]

#: Of what children keep; in this process overloads that other tests register ask for other kernels.
VERIFY = ("-m", "numba_metal", "cache", "verify")


@pytest.mark.parametrize("package", ["numba_metal", "numba_ptxplus"])
def test_help_tells_what_the_package_is_and_what_the_environment_chooses(package: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(package, ["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert "Numba kernels on" in text and f"{package.upper()}_DEVICE (auto, " in text and "NUMBA_CACHE_DIR" in text


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("selftest", "Run kernels on this machine's device and compare with NumPy."),
        ("run", "Run a numba.cuda program, unmodified, on this package."),
        ("cache", "Look after compiled kernels on disk."),
        ("cache list", "Show what is in it."),
        ("cache clear", "Delete all that is in it."),
        ("cache verify", "Exit with 1 if a signature that `warm` compiles is not in the cache. Nothing is compiled."),
        ("cache export", "Write all that is in it into a tar file."),
        ("cache import", "Take what is in a tar file that `export` wrote. It is machine code,"),
        ("warm", "Compile kernels into the cache: declared signatures and lists `warm=[…]`. What is there already is"),
    ],
)
def test_each_command_tells_what_it_does(line: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main("numba_metal", [*line.split(), "--help"])
    assert what in " ".join(capsys.readouterr().out.split())


def test_warm_compiles_declared_signatures_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text((tmp_path / "kernels.py").read_text().replace("*=", "+="))
    child = command("-m", "numba_metal", "warm", "kernels", "more", "--jobs", "2")
    assert child.returncode == 0, child.stderr
    assert sorted(line.split("] ")[1].rpartition(",")[0] for line in child.stdout.splitlines()) == [
        "kernels: 1 compiled, 0 known",
        "more: 1 compiled, 0 known",
    ]
    assert command(*VERIFY, "kernels", "more").stdout == "2 found, 0 missing\n"
    assert "kernels: 0 compiled, 1 known" in command("-m", "numba_metal", "warm", "kernels").stdout


def test_warm_tells_what_is_wrong_with_a_module_and_goes_on(act: Act, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\nraise KeyError('unfinished')")
    status, output = act("warm broken kernels")
    assert status == 1
    assert f"broken: {tmp_path / 'broken.py'}:2: KeyError: 'unfinished'" in output
    assert "kernels: 1 compiled, 0 known" in output


WRONG = """
import numba_metal

@numba_metal.jit("void(float32[::1])")
def wrong(x):
    x[0] = unknown_name

@numba_metal.jit(warm=["void(float32[::1])", "void(int32[::1])"])
def also_wrong(x):
    x[0] = x + other_name

@numba_metal.jit("void(float32[::1])")
def right(x):
    x[0] = 1
"""


def test_warm_tells_what_is_wrong_with_each_kernel_and_goes_on(act: Act, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    for counts in ("1 compiled, 0 known", "0 compiled, 1 known"):
        status, output = act("warm wrong")
        assert status == 1 and f"wrong: {counts}" in output
        assert "wrong: TypingError: kernel 'wrong' cannot be compiled, 1 reason:\n" in output
        assert f"{tmp_path / 'wrong.py'}:6: the name 'unknown_name' is not defined" in output
        assert output.count("kernel 'also_wrong' cannot be compiled") == 1, "once for what is wrong with all signatures"


WRONG_LISTS = """
import os
import numba_metal, numba_ptxplus

os.environ["NUMBA_PTXPLUS_DEVICE"] = "nowhere"

@numba_metal.jit(warm=["void(floot32[::1])"])
def misspelt(x):
    x[0] = 1

@numba_metal.jit(warm=["void(float32[::1], int32)"])
def miscounted(x):
    x[0] = 1

@numba_metal.jit(warm=["int32(float32[::1])"])
def returns(x):
    x[0] = 1

@numba_ptxplus.jit(warm=["void(float32[::1])"])
def of_a_device_that_is_not_there(x):
    x[0] = 1

@numba_metal.jit(warm=["void(float32[::1])"])
def right(x):
    x[0] = 1
"""


@pytest.mark.parametrize(
    ("line", "counts"), [("warm", "wrong: 1 compiled, 0 known"), ("cache verify", "0 found, 1 missing")]
)
def test_wrong_lists_and_devices_are_all_told_and_the_rest_goes_on(
    act: Act, tmp_path: Path, line: str, counts: str
) -> None:
    (tmp_path / "wrong.py").write_text(WRONG_LISTS)
    status, output = act(f"{line} wrong")
    assert status == 1 and counts in output
    for message in (
        "OptionError: the list `warm` of kernel 'misspelt': 'void(floot32[::1])' is no signature: ",
        "ArgumentError: kernel 'miscounted' takes 1 arguments, signature (array(float32, 1d, C), int32) has 2",
        "OptionError: the list `warm` of kernel 'returns': a kernel must have void return type, not int32, ",
        "OptionError: NUMBA_PTXPLUS_DEVICE must be one of auto, ",
    ):
        assert f"wrong: {message}" in output


@pytest.mark.parametrize("line", ["warm", "cache verify"])
def test_a_module_without_signatures_is_told(act: Act, tmp_path: Path, line: str) -> None:
    """Else a check in CI that looks at the wrong module passes for ever."""
    (tmp_path / "silent.py").write_text("import numba_metal\n\n@numba_metal.jit\ndef scale(x):\n    x[0] = 1\n")
    status, output = act(f"{line} silent")
    assert status == 1
    assert "silent: it has no kernel with declared signatures or a list `warm=[…]`\n" in output


@pytest.mark.parametrize("line", ["warm", "cache verify"])
def test_a_module_that_ends_the_process_is_told(act: Act, tmp_path: Path, line: str) -> None:
    """With status 0, as a script without `if __name__ == "__main__"` may do, it would look like success."""
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n")
    status, output = act(f"{line} ends kernels")
    assert status == 1
    assert f"ends: {tmp_path / 'ends.py'}:2: ImportError: ends calls sys.exit(0) while it is imported\n" in output
    assert "kernels: 1 compiled" in output or "0 found, 1 missing" in output


@pytest.mark.parametrize("line", ["warm", "cache verify"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kernels.py", "'kernels.py' is a file; give its module as `import` takes it, such as kernels\n"),
        ("./kernels.py", "'./kernels.py' is a file; give its module as `import` takes it, such as kernels\n"),
        ("kernels:", "'kernels:' is neither MODULE nor MODULE:KERNEL"),
        (":scale", "':scale' is neither MODULE nor MODULE:KERNEL"),
        ("a..b", "'a..b' is neither MODULE nor MODULE:KERNEL"),
        ("kernels:scale:2", "'kernels:scale:2' is neither MODULE nor MODULE:KERNEL"),
    ],
)
def test_what_names_no_module_is_wrong_usage(
    act: Act, capsys: pytest.CaptureFixture[str], line: str, name: str, message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        act(f"{line} {name}")
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


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
        ("cache verify broken", "broken.py:1: KeyError: 'unfinished'"),
        ("cache verify silent:scale", "kernel 'scale' has no declared signatures and no list `warm=[…]`"),
        ("cache verify kernels --arch smm_80", UNKNOWN_ARCH),
        ("cache list broken", "broken.py:1: KeyError: 'unfinished'"),
        ("selftest --cases broken", "broken.py:1: KeyError: 'unfinished'"),
        ("selftest --cases silent", "numba_metal: silent has no function all_cases()"),
        ("selftest --cases nowhere", "numba_metal: there is no package or module nowhere"),
        ("cache list json", "numba_metal: package json ships no compiled kernels"),
        ("cache list zlib", "numba_metal: package zlib ships no compiled kernels"),
        ("cache import missing.tar", "missing.tar"),
        ("warm kernels --arch smm_80", UNKNOWN_ARCH),
        ("warm --arch sm_80", "numba_metal: --arch needs a MODULE"),
    ],
)
def test_what_cannot_be_done_is_told(act: Act, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "broken.py").write_text("raise KeyError('unfinished')")
    (tmp_path / "silent.py").write_text(
        (tmp_path / "kernels.py").read_text().replace('("void(float32[::1], float32)")', "")
    )
    status, output = act(line)
    assert (status, message in output) == (1, True), output


def test_a_process_that_dies_is_told(command: Command, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\nos._exit(3)")
    child = command("-m", "numba_metal", "warm", "dies")
    assert child.returncode == 1
    assert "dies: the process that compiled it, or one beside it, died" in child.stderr
    assert "Traceback" not in child.stderr


def test_warm_compiles_nothing_where_nothing_is_kept(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(miss, "compile_kernel", None)
    status, output = act("warm kernels", cache="")
    assert status == 1
    reason = "caching is off; set NUMBA_CACHE_DIR or cache=True"
    assert output.splitlines() == [f"[1/1] kernels: not compiled, since it would not be kept: {reason}"]


def test_wrong_settings_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NUMBA_GPU_CACHE_NBYTES", "2 GB")
    assert main("numba_metal", ["cache", "list"]) == 1
    assert "NUMBA_GPU_CACHE_NBYTES must be a whole number from 1 on, not '2 GB'" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_told(
    act: Act, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert act("cache list")[0] == 0
    monkeypatch.setenv("NUMBA_METAL_DEVICE", "cpux")
    assert main("numba_metal", ["cache", "verify", "kernels"]) == 1
    message = "kernels: OptionError: NUMBA_METAL_DEVICE must be one of auto, metal, cpu, not 'cpux'\n"
    assert message in capsys.readouterr().err


def test_architectures_are_for_the_kernels_that_know_them(act: Act, tmp_path: Path) -> None:
    """A module with kernels of both packages: each named GPU is for one of them."""
    kernels = (tmp_path / "kernels.py").read_text()
    (tmp_path / "both.py").write_text(
        kernels + kernels.replace("numba_metal", "numba_ptxplus").replace("scale", "grow")
    )
    status, output = act("warm both --arch sm_80 --arch msl3.1")
    assert status == 0 and "both: 2 compiled, 0 known" in output
    assert act("cache verify both --arch sm_80 --arch msl3.1") == (0, "2 found, 0 missing\n")


def test_warm_lists_must_be_lists_of_signatures() -> None:
    with pytest.raises(OptionError, match="warm must be a list of signatures"):
        numba_metal.jit(warm="void(float32[::1])")


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
hits, misses, unkept = (len(getattr(kernels.scale.stats, name)) for name in ("hits", "misses", "unkept"))
assert (hits, misses, unkept) == (1 - n_compiled, n_compiled, 0), kernels.scale.stats
print(n_compiled)
"""


def test_processes_that_start_on_an_empty_folder(command: Command, tmp_path: Path) -> None:
    """All get right results, and the lock keeps all but one or two from compiling."""
    count = 8
    with ThreadPoolExecutor(count) as pool:
        children = list(pool.map(lambda _: command("-c", RACER), range(count)))
    assert [child.returncode for child in children] == [0] * count, [child.stderr for child in children]
    assert sum(int(child.stdout) for child in children) in (1, 2)
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".gpukernel", ".gputext"]
    assert command(*VERIFY, "kernels").stdout == "1 found, 0 missing\n"
