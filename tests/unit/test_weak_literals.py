"""Number rules of Metal: kernels whose data is float32 and integers never compute in double precision (NEP 50)."""

import math

import llvmlite.binding as llvm
import numpy as np
import pytest

from numba_gpucore.base.argtypes import ArrayType, ScalarType
from numba_gpucore.base.artifact import CompileRequest
from numba_gpucore.base.errors import UnsupportedKernelError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.target import NumberRules, Target
from numba_gpucore.compile.driver import lower_kernel
from numba_gpucore.cpu import BACKEND
from numba_gpucore.language import grid

RULES = NumberRules(weak_literals=True, has_float64=False)
METAL = Target("metal", "numba_metal", ("cpu",), "NUMBA_METAL_DEVICE", rules=RULES)
FLOATS = ArrayType(ScalarType("float32", 4), 1, "C")
QUARTER = 0.25


def literal_and_global(x, out):
    i = grid(1)
    out[i] = x[i] * 0.1 + QUARTER


def accumulator_from_zero_point_zero(x, out):
    total = 0.0
    for k in range(10):
        total += x[k] * 0.5
    out[grid(1)] = total


def accumulator_from_zero(x, out):
    total = 0
    for k in range(10):
        total += x[k]
    out[grid(1)] = total


def square_root_by_power(x, out):
    out[grid(1)] = x[grid(1)] ** 0.5


def math_of_a_literal(x, out):
    out[grid(1)] = math.sqrt(2.0) * x[grid(1)]


def conditional_with_int_branch(x, out):
    out[grid(1)] = 1.5 if x[grid(1)] > 0.5 else 0


def int_by_int(x, out):
    i = grid(1)
    out[i] = i / 7 * x[i]


def int_times_float(x, out):
    out[grid(1)] = 6 * x[grid(1)]


def maximum_with_literal(x, out):
    out[grid(1)] = max(x[grid(1)], 0.0)


def math_of_an_integer(x, out):
    out[grid(1)] = math.exp(grid(1))


def literal_in_a_variable(x, out):
    weight = 2.0 * 3.0
    out[grid(1)] = weight * x[grid(1)]


def literals_in_a_tuple(x, out):
    pair = (0.5, 0.25)
    out[grid(1)] = pair[0] * x[grid(1)]


def float_of_an_integer(x, out):
    i = grid(1)
    out[i] = -0.5 * x[i] + float(i)


def rounding_to_digits(x, out):
    out[grid(1)] = round(x[grid(1)], 2)


def truncation_to_int(x, out):
    out[grid(1)] = int(x[grid(1)] * 2.0)


def variable_that_is_reassigned(x, out):
    w = 0.1 * x[grid(1)] + 1.5e-3
    if w > 0.25:
        w = w**2 - 1 / 3
    out[grid(1)] = w + grid(1) / 7


IDIOMS = [
    literal_and_global, accumulator_from_zero_point_zero, accumulator_from_zero, square_root_by_power,
    math_of_a_literal, conditional_with_int_branch, int_by_int, int_times_float, maximum_with_literal,
    math_of_an_integer, literal_in_a_variable, literals_in_a_tuple, float_of_an_integer, rounding_to_digits,
    truncation_to_int, variable_that_is_reassigned,
]  # fmt: skip


def double_of_a_float64_constant(x, out):
    out[grid(1)] = x[grid(1)] * DOUBLE_PRECISION


DOUBLE_PRECISION = np.float64(0.1)


def optimised_entry(kernel, target):
    """LLVM assembly of the kernel after inlining and optimising: what a code generator would see."""
    options = KernelOptions(boundscheck=False)
    request = CompileRequest(kernel, target, "cpu", BACKEND.codegen, 1, "any", (FLOATS, FLOATS), options)
    lowered = lower_kernel(request)
    for function in lowered.module.functions:
        if not function.is_declaration and function.name != lowered.job.entry:
            function.add_function_attribute("alwaysinline")
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(lowered.module, builder)
    return str(lowered.module.get_function(lowered.job.entry))


@pytest.mark.parametrize("kernel", IDIOMS, ids=lambda k: k.__name__)
def test_float32_program_has_no_double(kernel):
    assert "double" not in optimised_entry(kernel, METAL)


def test_the_check_can_fail():
    """np.float64 counts as float64, by NumPy's rules and ours: where there is none, it is refused at its line."""
    strong = Target("ptxplus", "numba_ptxplus", ("cpu",), "NUMBA_PTXPLUS_DEVICE", rules=NumberRules(weak_literals=True))
    assert "double" in optimised_entry(double_of_a_float64_constant, strong)
    line = double_of_a_float64_constant.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedKernelError, match=rf"literals.py:{line}: float64: 'DOUBLE_PRECISION'"):
        optimised_entry(double_of_a_float64_constant, METAL)


def test_without_weak_literals_numbas_rule_holds():
    """Numba's documented rule: a float literal is a float64."""
    strong = Target("ptxplus", "numba_ptxplus", ("cpu",), "NUMBA_PTXPLUS_DEVICE")
    assert "double" in optimised_entry(literal_and_global, strong)
