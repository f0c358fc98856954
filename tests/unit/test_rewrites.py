"""A program's rewrites take part in what Numba compiles: a kernel from the cache is the one that it would compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """
import numba_metal

@numba_metal.jit(cache=True)
def fill(x):
    x[numba_metal.grid(1)] = 1

def run():
    import numpy as np
    x = np.zeros(4, np.int32)
    fill[1, 4](x)
    print(x.tolist(), len(fill.stats.hits))
"""

#: Constants of kernels become {0}.
REWRITE = """
from numba.core import ir
from numba.core.rewrites import Rewrite, register_rewrite

@register_rewrite("before-inference")
class OtherConstants(Rewrite):
    def match(self, func_ir, block, typemap, calltypes):
        self.block = block
        self.found = [
            s for s in block.find_insts(ir.Assign)
            if isinstance(s.value, ir.Const) and s.value.value == 1 and func_ir.func_id.func_name == "fill"
            and not any(isinstance(u, ir.Expr) and u.op == "call" and s.target in u.list_vars()
                        for u in block.find_exprs())
        ]
        return bool(self.found)

    def apply(self):
        block = self.block.copy()
        for statement in self.found:
            place = block.body.index(statement)
            block.body[place] = ir.Assign(ir.Const({0}, statement.loc), statement.target, statement.loc)
        return block
"""


def run(folder: Path, code: str) -> str:
    variables = {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "NUMBA_METAL_DEVICE": "cpu"}
    environment = {**os.environ, **variables, "NUMBA_CACHE_DIR": str(folder / "cache")}
    line = [sys.executable, "-W", "error", "-c", code]
    child = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert child.returncode == 0, child.stderr
    return child.stdout


def test_a_kernel_is_of_the_rewrites_it_was_compiled_with(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "rewrite.py").write_text(REWRITE.replace("{0}", "7"))
    plain, rewritten = "import kernel; kernel.run()", "import rewrite, kernel; kernel.run()"
    assert run(tmp_path, plain) == "[1, 1, 1, 1] 0\n"
    assert run(tmp_path, rewritten) == "[7, 7, 7, 7] 0\n"
    assert run(tmp_path, rewritten) == "[7, 7, 7, 7] 1\n"
    assert run(tmp_path, plain) == "[1, 1, 1, 1] 1\n"
    (tmp_path / "rewrite.py").write_text(REWRITE.replace("{0}", "8"))
    assert run(tmp_path, rewritten) == "[8, 8, 8, 8] 0\n"


def test_rewrites_without_source_are_of_one_process(tmp_path: Path) -> None:
    """As those of an interactive session: nobody can tell whether the next process has the same."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    code = REWRITE.replace("{0}", "9") + "import kernel; kernel.run()"
    assert run(tmp_path, code) == "[9, 9, 9, 9] 0\n"
    assert not list((tmp_path / "cache").glob("*.gpukernel"))
