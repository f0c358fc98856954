"""Lowered implementations of Numba's functions come back from a store: same results, same exceptions at the same lines.

Each program runs in a process of its own: `fill` lowers and keeps, `use` must find what was kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core import types

from numba_gpucore.base.key import digest_key_text
from numba_gpucore.compile.implementation_key import describe_implementation
from numba_gpucore.compile.type_text import NotExpressible, decode_type, encode_type

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
import numpy as np
import numba_ptxplus
from numba_gpucore.compile.pass_pipeline import DeviceCompiler
from numba_gpucore.launch.session import default_session

default_session().store.keeps_overloads = sys.argv[1] == "fill"
functions = []
compile_bytecode = DeviceCompiler._compile_bytecode

def note(self):
    functions.append(self.state.func_id.func_qualname)
    return compile_bytecode(self)

DeviceCompiler._compile_bytecode = note

@numba_ptxplus.jit
def totals(x, out):
    i = numba_ptxplus.grid(1)
    out[i] = x[i:].sum() + np.max(x[i:]) + sum_of(x) + x[i:].sum()

@numba_ptxplus.jit(device=True)
def sum_of(x):
    total = x.sum()
    return total

out = np.zeros(4, np.float32)
totals[1, 4](np.arange(4, dtype=np.float32), out)
print(out.tolist())
try:
    totals[1, 4](np.zeros(0, np.float32), out)
except ValueError as error:
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    print(str(error).splitlines()[0], place.tb_lineno)
print(" ".join(sorted({name.rpartition(".")[2] for name in functions})))
"""


Run = Callable[..., list[str]]


@pytest.fixture(scope="module")
def run(run_python: Callable[..., Any]) -> Run:
    """run(folder, action, **variables): the lines that PROGRAM prints: results, an exception, and the functions that
    Numba's passes saw."""

    def run_program(folder: Path, action: str, **variables: str) -> list[str]:
        program = folder / "program.py"
        program.write_text(PROGRAM)
        own = {"NUMBA_PTXPLUS_DEVICE": "cpu", "XDG_CACHE_HOME": str(folder), "NUMBA_CACHE_DIR": None}
        return run_python(program, action, **own, **variables).stdout.splitlines()

    return run_program


#: 0 + 1 + 2 + 3 = 6 and 3, 6 again, and the rest of the row twice: 6 + 3 + 6 + 6, 6 + 3 + 6 + 6, 5 + 3 + 6 + 5, ...
RESULT = "[21.0, 21.0, 19.0, 15.0]"
#: NumPy's words for an empty array, at the kernel's line.
ERROR = "zero-size array to reduction operation maximum which has no identity 21"


@pytest.fixture(scope="module")
def filled(run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("store")
    return folder, run(folder, "fill")


def test_what_is_kept_is_used(run: Run, filled: tuple[Path, list[str]]) -> None:
    folder, (result, error, functions) = filled
    assert (result, error) == (RESULT, ERROR)
    assert {"totals", "sum_of", "array_sum_impl", "impl_max"} <= set(functions.split())
    assert run(folder, "use") == [RESULT, ERROR, "sum_of totals"]


def test_nothing_is_put_together_where_nothing_is_kept(run_python: Callable[..., Any], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    lines = PROGRAM.split("DeviceCompiler._compile_bytecode = note\n")
    watch = "from numba_gpucore.compile import stored_overloads\nstored_overloads._merge = None  # fails if called\n"
    program.write_text(watch.join((lines[0] + "DeviceCompiler._compile_bytecode = note\n", lines[1])))
    own = {"NUMBA_PTXPLUS_DEVICE": "cpu", "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": None}
    assert run_python(program, "use", **own).stdout.splitlines()[0] == RESULT
    assert not list((tmp_path / "numba-metal").glob("*.gpuoverload"))


def test_other_flags_need_other_implementations(run: Run, filled: tuple[Path, list[str]]) -> None:
    """Without bounds checks, `np.max` is lowered anew."""
    folder, _lines = filled
    assert "impl_max" in run(folder, "use", NUMBA_BOUNDSCHECK="0")[2].split()


def test_damaged_files_are_not_used(run: Run, filled: tuple[Path, list[str]], tmp_path: Path) -> None:
    folder, _lines = filled
    copy = tmp_path / "numba-metal"
    copy.mkdir(mode=0o700)
    for file in (folder / "numba-metal").glob("*.gpuoverload"):
        (copy / file.name).write_bytes(file.read_bytes()[:-20])
    result, error, functions = run(tmp_path, "use")
    assert (result, error) == (RESULT, ERROR)
    assert {"array_sum_impl", "impl_max"} <= set(functions.split())


def test_files_name_no_place_of_this_machine(filled: tuple[Path, list[str]]) -> None:
    folder, _lines = filled
    files = list((folder / "numba-metal").glob("*.gpuoverload"))
    assert files
    for file in files:
        digest, text = file.read_text().split("\n", 1)
        assert digest == digest_key_text(text)
        assert sys.prefix not in text and str(ROOT) not in text


KNOWN_TYPES = [
    types.float32, types.int64, types.boolean, types.none, types.complex64, types.float16, types.slice2_type,
    types.slice3_type, types.literal(3), types.literal("a"), types.literal(True), types.Omitted(None),
    types.Omitted(1.5), types.Array(types.float32, 2, "F"), types.Array(types.int8, 1, "A", readonly=True),
    types.Array(types.int8, 1, "C", aligned=False), types.UniTuple(types.int64, 2), types.Tuple(()),
    types.Tuple((types.int64, types.UniTuple(types.float32, 3))), types.DType(types.float32),
    types.NumberClass(types.int32),
]  # fmt: skip


@pytest.mark.parametrize("type_", KNOWN_TYPES, ids=str)
def test_types_come_back_equal(type_: Any) -> None:
    restored = decode_type(json.loads(json.dumps(encode_type(type_))))
    assert restored == type_ and type(restored) is type(type_) and str(restored) == str(type_)


@pytest.mark.parametrize(
    "type_", [types.Optional(types.int64), types.unicode_type, types.ListType(types.int64)], ids=str
)
def test_other_types_are_refused(type_: Any) -> None:
    with pytest.raises(NotExpressible):
        encode_type(type_)


def test_functions_of_users_are_refused() -> None:
    with pytest.raises(NotExpressible, match="a function of"):
        describe_implementation(run)
