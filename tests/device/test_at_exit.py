"""Programs whose last work is given when Python ends, in handlers of atexit."""

from __future__ import annotations

import os

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


FIRST_WORK = """
import atexit, sys
import numpy as np
import numba_metal as gpu

@gpu.jit
def add(x, n):
    if n > 100:
        raise ValueError("large")
    x[gpu.grid(1)] += n

array = gpu.to_device(np.zeros(4, np.float32))
assert not {"queue", "numba_gpucore.launch.raising"} & sys.modules.keys()

@atexit.register
def finish():
    stream = gpu.stream()
    add[1, 4, stream](array, 2)
    print(array.copy_to_host(stream=stream))
    try:
        add[1, 4, stream](array, 300)
        stream.synchronize()
    except ValueError as error:
        print(str(error).splitlines()[0])
"""


def test_what_streams_and_exceptions_need_is_loaded_at_the_end_too(run_python, tmp_path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FIRST_WORK)
    assert run_python(program).stdout == "[2. 2. 2. 2.]\nlarge\n"


IN_FLIGHT = """
import atexit, os, sys
import numpy as np
import numba_metal as gpu

@gpu.jit
def count(x, n):
    for _ in range(n):
        x[gpu.grid(1)] += 1

def launch(name):
    stream, event = gpu.stream(), gpu.event()
    array = gpu.to_device(np.zeros(64, np.float32), stream=stream)
    count[64, 1, stream](array, 100_000)
    stream.add_callback(lambda *_: print(name, int(array.host_view().sum()), flush=True))
    event.record(stream)
    return event, array, stream

@atexit.register
def finish():
    launch("late")

kept = launch("kept")
launch("dropped")
child = os.fork() if hasattr(os, "fork") else 1
if child == 0:
    sys.exit()
"""


def test_work_in_flight_ends_before_python_does_whoever_has_let_go_of_it(run_python, tmp_path) -> None:
    """A forked child, in which the same handlers run, leaves its parent's work to the parent."""
    program = tmp_path / "program.py"
    program.write_text(IN_FLIGHT)
    lines = sorted(run_python("-W", "ignore::DeprecationWarning", program).stdout.splitlines())
    of_child = ["late 6400000"] if hasattr(os, "fork") else []
    assert lines == ["dropped 6400000", "kept 6400000", *of_child, "late 6400000"]
