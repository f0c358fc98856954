"""NUMBA_GPU_DUMP writes every stage of a kernel."""

from __future__ import annotations

PROGRAM = """
import numpy as np, numba_metal

@numba_metal.jit
def scale(x):
    x[numba_metal.grid(1)] *= 2

scale[1, 4](np.ones(4, np.float32))
"""


def test_every_stage_is_written(run_python, tmp_path):
    source = tmp_path / "scale_program.py"
    source.write_text(PROGRAM, encoding="utf-8")
    dump = tmp_path / "dump"
    run_python(source, NUMBA_METAL_DEVICE="cpu", NUMBA_GPU_DUMP=str(dump), NUMBA_CACHE_DIR=None)
    (folder,) = dump.iterdir()
    assert folder.name.startswith("scale-cpu-")
    texts = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(texts) == ["1-types.txt", "2-device.ll", "3-legalized.ll", "4-emitted.txt", "5-code.bin"]
    assert b"array(float32, 1d, C)" in texts["1-types.txt"]
    assert b"@kernel_scale(" in texts["2-device.ll"] and b"@kernel_scale(" in texts["4-emitted.txt"]
    assert texts["5-code.bin"]
