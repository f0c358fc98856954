"""numba.cuda.launchconfig: what code that takes part in compiling learns about the launch."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.rewrites import Rewrite, rewrite_registry

import numba_ptxplus as gpu

launchconfig = gpu.launchconfig
SEEN = []


class MarkSensitive(Rewrite):
    """Takes note of the launch that compiles a kernel named `sensitive`, and marks the kernel."""

    def match(self, func_ir, block, typemap, calltypes):
        self.block = block
        launch = launchconfig.current_launch_config()
        return func_ir.func_id.func_name == "sensitive" and launch is not None and not launch.is_sensitive

    def apply(self):
        launch = launchconfig.ensure_current_launch_config()
        SEEN.append((launch.griddim, launch.blockdim, launch.sharedmem))
        launch.dispatcher.mark_launch_config_sensitive()
        return self.block


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """While these tests run only: a program's rewrites are part of each key of its cache, also in other tests."""
    registered = rewrite_registry.rewrites["after-inference"]
    monkeypatch.setitem(rewrite_registry.rewrites, "after-inference", [*registered, MarkSensitive])


def test_there_is_no_launch_outside_of_one() -> None:
    assert launchconfig.current_launch_config() is None
    with pytest.raises(RuntimeError, match="No launch config set"):
        launchconfig.ensure_current_launch_config()


def test_the_launch_that_compiles_is_captured() -> None:
    @gpu.jit
    def kernel(x):
        x[0] = 1

    x = np.zeros(1, np.int32)
    with launchconfig.capture_compile_config(kernel) as capture:
        kernel[(2, 3), 4, 0, 16](x)
        launch = capture["config"]
        capture["config"] = None
        kernel[5, 6](x)
    assert capture["config"] is None, "the second launch compiles nothing"
    assert launch.dispatcher is kernel and launch.args == (x,) and launch.stream == 0
    assert (launch.griddim, launch.blockdim, launch.sharedmem) == ((2, 3, 1), (4, 1, 1), 16)
    assert launchconfig.current_launch_config() is None
    assert "_compile_for_args" not in vars(kernel)


def test_a_failed_compilation_leaves_no_launch_behind() -> None:
    @gpu.jit
    def kernel(x):
        x.no_such_thing()

    with pytest.raises(TypeError):
        kernel[1, 1](np.zeros(1))
    assert launchconfig.current_launch_config() is None


def test_code_for_one_launch_configuration_is_used_for_that_only() -> None:
    @gpu.jit(cache=True)
    def sensitive(x):
        x[0] += gpu.blockDim.x

    SEEN.clear()
    x = np.zeros(1, np.int32)
    for block in (8, 16, 8, 16):
        sensitive[1, block](x)
    assert SEEN == [((1, 1, 1), (8, 1, 1), 0), ((1, 1, 1), (16, 1, 1), 0)]
    assert [overload.launch_config_sensitive for overload in sensitive.overloads.values()] == [True]


def test_only_a_launch_can_be_sensitive() -> None:
    with pytest.raises(ValueError, match="is not being compiled for a launch"):
        gpu.jit(lambda x: None).mark_launch_config_sensitive()


def test_recompiling_takes_the_globals_of_now() -> None:
    value = 1

    @gpu.jit
    def kernel(x):
        x[0] = value

    x = np.zeros(1, np.int64)
    kernel[1, 1](x)
    value = 2
    kernel[1, 1](x)
    assert x[0] == 1
    kernel.recompile()
    kernel[1, 1](x)
    assert x[0] == 2
