"""How good our PTX is, beside numba-cuda's: registers, spills, stack, machine and float64 instructions, compile time.

    python benchmarks/ptx_quality.py [--json FILE] [--arch sm_90] [--peer-python PYTHON]

Both are assembled by the same ptxas (wheel nvidia-cuda-nvcc) and counted in nvdisasm's output (wheel
nvidia-cuda-nvdisasm) without padding. numba-cuda replaces numba.cuda where it is installed, so it is best kept in an
environment of its own, whose Python --peer-python names; without one, ours are held against figures noted before.
Exit status 1 if a kernel has more registers, spills or machine instructions than its peer.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from numba_gpucore.base.options import KernelOptions  # noqa: E402  runs from a checkout, too
from numba_ptxplus.codegen.assemble import newest_ptxas, run_ptxas  # noqa: E402
from numba_ptxplus.codegen.disassemble import disassemble_cubin  # noqa: E402

CHILD = Path(__file__).resolve().with_name("ptx_child.py")
#: numba-cuda 0.30.4, nvvm 13.5 and ptxas 13.5 on sm_90 by this program: registers, machine instructions.
NOTED_PEER = {
    ("saxpy", "plain"): (14, 36), ("saxpy", "float32"): (14, 36),
    ("stencil", "plain"): (18, 64), ("stencil", "float32"): (18, 64),
    ("mandelbrot", "plain"): (22, 83), ("mandelbrot", "float32"): (18, 79),
    ("black_scholes", "plain"): (30, 673), ("black_scholes", "float32"): (26, 402),
    ("block reduction", "plain"): (16, 157), ("block reduction", "float32"): (16, 157),
    ("tiled matmul", "plain"): (32, 210), ("tiled matmul", "float32"): (32, 177),
    ("histogram", "plain"): (10, 26), ("histogram", "float32"): (10, 26),
    ("shared histogram", "plain"): (14, 46), ("shared histogram", "float32"): (14, 46),
}  # fmt: skip
MAX_SECOND_COMPILE_S = 0.035
MAX_COMPILE_RATIO = 0.6

_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ +)?([A-Z][\w.]*)", re.MULTILINE)
#: DADD, DFMA, DSETP …, conversions and special functions of doubles.
_FLOAT64 = re.compile(r"D(?:ADD|MUL|FMA|SETP|MNMX)|F2F\.F64|F2F\.F32\.F64|[FI]2[FI]\.\S*F64|MUFU\.\w*64H")


@dataclass(frozen=True)
class Quality:
    """What one kernel costs on the GPU; sizes in bytes."""

    registers: int
    spill_nbytes: int
    stack_nbytes: int
    instructions: int
    float64_instructions: int
    compile_ms: float


@dataclass(frozen=True)
class Row:
    name: str
    literals: str
    ours: Quality
    peer: Quality | None
    peer_registers: int
    peer_instructions: int

    @property
    def is_worse(self) -> bool:
        spills_more = self.ours.spill_nbytes > (self.peer.spill_nbytes if self.peer else 0)
        ours = self.ours
        return spills_more or ours.registers > self.peer_registers or ours.instructions > self.peer_instructions


def measure(result: dict[str, Any], arch: str) -> Quality:
    ptxas = newest_ptxas()
    if ptxas is None:
        raise SystemExit("this benchmark needs ptxas: pip install nvidia-cuda-nvcc")
    cubin, report = run_ptxas(ptxas, result["ptx"], arch, KernelOptions())
    opcodes = [opcode for opcode in _INSTRUCTION.findall(disassemble_cubin(cubin)) if opcode != "NOP"]
    stack, stores, loads = _last(report, r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
    return Quality(
        registers=_last(report, r"Used (\d+) registers")[0],
        spill_nbytes=stores + loads,
        stack_nbytes=stack,
        instructions=len(opcodes),
        float64_instructions=sum(bool(_FLOAT64.match(opcode)) for opcode in opcodes),
        compile_ms=1e3 * result["compile_s"],
    )


def _last(report: str, pattern: str) -> tuple[int, ...]:
    """The numbers of the pattern's last match: kernels come after the functions that they call."""
    found = re.findall(pattern, report)[-1]
    return tuple(map(int, (found,) if isinstance(found, str) else found))


def compile_all(tool: str, python: str, arch: str) -> list[dict[str, Any]] | None:
    """What ptx_child.py prints; None where the tool is not installed there."""
    module = "numba_ptxplus" if tool == "ours" else "numba_cuda"
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True, cwd=ROOT).returncode:
        return None
    child = subprocess.run([python, CHILD, tool, arch], capture_output=True, text=True, timeout=600)
    if child.returncode:
        raise SystemExit(f"{tool} failed:\n{child.stderr}")
    results: list[dict[str, Any]] = json.loads(child.stdout)
    return results


def best_of(runs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Equal programs, each with the median of its compile times."""
    times = [statistics.median(run[i]["compile_s"] for run in runs) for i in range(len(runs[0]))]
    return [{**result, "compile_s": seconds} for result, seconds in zip(runs[0], times, strict=True)]


def make_rows(arch: str, peer_python: str, n_runs: int) -> list[Row]:
    ours_runs, peer_runs = [], []
    for _ in range(n_runs):  # in turn, so that both meet the same machine
        ours = compile_all("ours", sys.executable, arch)
        if ours is None:
            raise SystemExit(f"numba_ptxplus cannot be imported by {sys.executable}")
        ours_runs.append(ours)
        peer = compile_all("numba-cuda", peer_python, arch)
        if peer:
            peer_runs.append(peer)
    peer_results = best_of(peer_runs) if peer_runs else [None] * len(ours_runs[0])
    rows = []
    for result, peer_result in zip(best_of(ours_runs), peer_results, strict=True):
        peer_quality = measure(peer_result, arch) if peer_result else None
        noted = NOTED_PEER[result["name"], result["literals"]]
        registers, instructions = (peer_quality.registers, peer_quality.instructions) if peer_quality else noted
        quality = measure(result, arch)
        rows.append(Row(result["name"], result["literals"], quality, peer_quality, registers, instructions))
    return rows


def print_rows(rows: list[Row]) -> None:
    print(
        f"{'':28} {'registers':>10} {'machine instr.':>14} {'float64':>9} {'spills':>8} {'stack':>7} {'compile ms':>14}"
    )
    for row in rows:
        peer = row.peer
        pairs = [
            (10, row.ours.registers, row.peer_registers),
            (14, row.ours.instructions, row.peer_instructions),
            (9, row.ours.float64_instructions, peer and peer.float64_instructions),
            (8, row.ours.spill_nbytes, peer and peer.spill_nbytes),
            (7, row.ours.stack_nbytes, peer and peer.stack_nbytes),
            (14, round(row.ours.compile_ms), peer and round(peer.compile_ms)),
        ]
        cells = " ".join(f"{ours}/{'-' if theirs is None else theirs}".rjust(width) for width, ours, theirs in pairs)
        print(f"{row.name + ', ' + row.literals:28} {cells}  {'WORSE' if row.is_worse else ''}")


def summarise(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows that benchmarks share: seconds and goals."""
    entries = []
    for row in rows:
        peer_s = row.peer.compile_ms / 1e3 if row.peer else None
        ours_s = row.ours.compile_ms / 1e3
        entries.append(
            {
                "name": f"{row.name}, {row.literals}",
                "ours_s": ours_s,
                "peer": "numba-cuda",
                "peer_s": peer_s,
                "ratio": ours_s / peer_s if peer_s else None,
                "goal": None,
                **asdict(row),
            }
        )
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--peer-python", default=sys.executable, metavar="PYTHON", help="a Python that has numba-cuda")
    parser.add_argument("--runs", type=int, default=3, help="processes for each tool; compile times are medians")
    options = parser.parse_args()
    rows = make_rows(options.arch, options.peer_python, options.runs)
    print(
        "ours/numba-cuda" if rows[0].peer else "ours/numba-cuda's figures for sm_90, noted before: it is not installed"
    )
    print_rows(rows)
    # saxpy: what comes second in a process
    second_s = rows[0].ours.compile_ms / 1e3
    print(f"second kernel of a process to PTX: {second_s * 1e3:.0f} ms (goal {MAX_SECOND_COMPILE_S * 1e3:.0f})")
    if rows[0].peer:
        total = sum(row.ours.compile_ms for row in rows)
        peer_total = sum(row.peer.compile_ms for row in rows if row.peer)
        ratio = f"ratio {total / peer_total:.2f} (goal {MAX_COMPILE_RATIO})"
        print(f"whole set: {total:.0f} ms, numba-cuda {peer_total:.0f} ms, {ratio}")
    worse = [row for row in rows if row.is_worse]
    print(f"{len(rows) - len(worse)} of {len(rows)} kernels need no more registers, spills and instructions")
    if options.json:
        options.json.write_text(json.dumps({"rows": summarise(rows)}, indent=1) + "\n")
    if worse:
        sys.exit(1)


if __name__ == "__main__":
    main()
