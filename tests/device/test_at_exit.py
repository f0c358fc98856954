"""Programs whose last work is given when Python ends, in handlers of atexit."""

from __future__ import annotations

PROGRAM = """
import atexit
import numpy as np
import numba_metal as gpu

@gpu.jit
def add(x, n):
    x[gpu.grid(1)] += n

stream, event = gpu.stream(), gpu.event()
array = gpu.to_device(np.zeros(4, np.float32), stream=stream)
add[1, 4, stream](array, 1)

@atexit.register
def finish():
    add[1, 4, stream](array, 2)
    event.record(stream)
    event.synchronize()
    host = np.ones(4, np.float32)
    add[1, 4](host, 3)
    print(array.copy_to_host(stream=stream), host)
"""


def test_streams_take_work_until_the_end(run_python, tmp_path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert run_python(program).stdout == "[3. 3. 3. 3.] [4. 4. 4. 4.]\n"
