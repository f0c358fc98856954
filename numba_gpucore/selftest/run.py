"""Runs cases on the device of a target. Before: selftest.kernels. After: selftest.report."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np

from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.base.records import dataclass
from numba_gpucore.base.target import NumberRules
from numba_gpucore.launch.jit import jit
from numba_gpucore.launch.kernel import ConfiguredKernel, Kernel
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import default_session
from numba_gpucore.selftest.case import FEATURES, Case

Outcome = Literal["ok", "refused", "WRONG", "ERROR"]
_TIMED_LAUNCHES = 3


@dataclass(frozen=True)
class CaseResult:
    """outcome: "ok": as NumPy has it; "refused": the target lacks what the case needs, and said so; "WRONG": it ran and
    gave other numbers; "ERROR": it did not run. first_ms: compiling, loading and the first launch; launch_ms: the
    fastest of later launches, arrays copied there and back. text: what went wrong, and then what the device was given.
    """

    name: str
    outcome: Outcome
    first_ms: float
    launch_ms: float | None = None
    text: str = ""
    code: str = ""


def missing_features(rules: NumberRules) -> frozenset[str]:
    """What programs of a target cannot have, of case.FEATURES."""
    return frozenset(feature for feature in FEATURES if not getattr(rules, f"has_{feature}"))


def run_cases(platform: Platform, cases: Iterable[Case]) -> Iterator[CaseResult]:
    """Run each case on the target's current device."""
    for case in cases:
        yield _run_case(platform, case)


def _run_case(platform: Platform, case: Case) -> CaseResult:
    kernel: Kernel = jit(platform, case.kernel)
    launch = kernel[case.grid, case.block, 0, case.shared_nbytes]
    before = case.make_args(np.random.default_rng(case.seed))
    start_s = time.perf_counter()
    try:
        case.check(before, _launch(platform, launch, before))
        first_ms = 1e3 * (time.perf_counter() - start_s)
        return CaseResult(case.name, "ok", first_ms, _time_launch_ms(platform, launch, before))
    except Exception as error:
        # Whatever it is, it belongs into the report, and the next case can still run.
        first_ms = 1e3 * (time.perf_counter() - start_s)
        if isinstance(error, UnsupportedKernelError) and case.needs & missing_features(platform.target.rules):
            return CaseResult(case.name, "refused", first_ms, text=str(error))
        if isinstance(error, AssertionError):
            return CaseResult(case.name, "WRONG", first_ms, text=str(error), code=_emitted_text(kernel))
        text = "".join(traceback.format_exception(error))
        return CaseResult(case.name, "ERROR", first_ms, text=text, code=_emitted_text(kernel))


def _launch(platform: Platform, launch: ConfiguredKernel, before: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as a launch leaves them."""
    arguments = copy.deepcopy(before)
    launch(*arguments)
    session = default_session()
    session.synchronize(session.current_device(platform))
    return arguments


def _time_launch_ms(platform: Platform, launch: ConfiguredKernel, before: tuple[Any, ...]) -> float:
    times_s = []
    for _ in range(_TIMED_LAUNCHES):
        start_s = time.perf_counter()
        _launch(platform, launch, before)
        times_s.append(time.perf_counter() - start_s)
    return 1e3 * min(times_s)


def _emitted_text(kernel: Kernel) -> str:
    """What the back-end emitted for the kernel's signatures, if it got so far."""
    try:
        return "\n\n".join(kernel.inspect_asm().values())
    except Exception as error:
        return f"(not to be had: {error})"
