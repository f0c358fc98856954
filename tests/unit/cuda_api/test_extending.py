"""Users' extensions of Numba through numba.cuda's modules: overloads, models, registries, and errors in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba import from_dtype, njit, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate

import numba_metal
import numba_ptxplus as gpu
from numba_gpucore.base.errors import ArgumentError
from numba_gpucore.launch.cache import DiskCache
from numba_gpucore.warm.compile_modules import ArchChoice
from numba_gpucore.warm.ship import ShipError, ship_kernel

extending, registry, lower_attr = gpu.extending, gpu.cudadecl.registry, gpu.cudaimpl.lower_attr


def twice(x):
    raise NotImplementedError


@extending.overload(twice)
def overload_twice(x):
    if not isinstance(x, types.Number):
        raise TypingError(f"twice() takes a number, not {x}")
    return lambda x: 2 * x


@extending.overload(twice, target="cpu")
def overload_twice_on_cpu(x):
    return lambda x: -2 * x


@pytest.mark.parametrize("package", [gpu, numba_metal])
def test_overloads_are_for_cuda_by_default(package) -> None:
    """The CPU's own is not seen on devices, nor theirs on the CPU."""

    @package.jit
    def kernel(out):
        out[0] = twice(out[0])

    out = np.array([3], np.int32)
    kernel[1, 1](out)
    assert out[0] == 6
    assert njit(lambda x: twice(x))(3) == -6


def test_the_reason_that_an_overload_gives_is_told() -> None:
    @gpu.jit
    def kernel(out):
        out[0] = twice((1, 2))

    with pytest.raises(TypingError, match=r"test_extending\.py:\d+: twice\(\) takes a number, not \(int64, int64\)"):
        kernel[1, 1](np.zeros(1))


def test_what_is_wrong_with_an_overload_is_told() -> None:
    def function(x, y=1):
        pass

    @extending.overload(function)
    def overload_function(x, y=1):
        return lambda x, y=2: x

    @gpu.jit
    def kernel(out):
        out[0] = function(out[0])

    with pytest.raises(TypingError, match=r"the overload of 'function' cannot be used: .*default values"):
        kernel[1, 1](np.zeros(1))


class Interval:
    """low to high."""


class IntervalType(types.Type):
    def __init__(self):
        super().__init__("Interval")


interval = IntervalType()


@extending.register_model(IntervalType)
class IntervalModel(extending.core_models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("low", gpu.float32), ("high", gpu.float32)])


extending.make_attribute_wrapper(IntervalType, "low", "low")


@extending.type_callable(Interval)
def type_interval(context):
    return lambda low, high: interval


@extending.lower_builtin(Interval, types.Float, types.Float)
def lower_interval(context, builder, sig, args):
    made = gpu.cgutils.create_struct_proxy(interval)(context, builder)
    made.low, made.high = (
        context.cast(builder, value, type_, types.float32) for value, type_ in zip(args, sig.args, strict=True)
    )
    return made._getvalue()


@registry.register_attr
class IntervalAttributes(AttributeTemplate):
    key = IntervalType

    def resolve_width(self, _interval):
        return types.float32


@lower_attr(IntervalType, "width")
def lower_width(context, builder, type_, value):
    low, high = builder.extract_value(value, 0), builder.extract_value(value, 1)
    return builder.fsub(high, low)


def test_types_with_models_and_attributes_of_users() -> None:
    @gpu.jit
    def kernel(x, out):
        made = Interval(x[0], x[1])
        out[0] = made.width
        out[1] = made.low

    out = np.zeros(2, np.float32)
    kernel[1, 1](np.array([1.5, 4], np.float32), out)
    np.testing.assert_array_equal(out, [2.5, 1.5])


def test_arrays_of_users_struct_types() -> None:
    """In shared and local memory, and as arguments: arrays of records that lie as the struct does."""

    @gpu.jit(gpu.void(interval[::1], gpu.float32[::1]))
    def kernel(x, out):
        i = gpu.threadIdx.x
        shared, local = gpu.shared.array(4, interval), gpu.local.array(1, interval)
        local[0] = x[i]
        shared[i] = Interval(local[0].low - 1, local[0].low * 2)
        gpu.syncthreads()
        out[i] = shared[3 - i].width
        x[i] = shared[3 - i]

    dtype = np.dtype([("low", np.float32), ("high", np.float32)], align=True)
    x = np.array([(i + 2, 0) for i in range(4)], dtype)
    out = np.zeros(4, np.float32)
    kernel[1, 4](x, out)
    np.testing.assert_array_equal(out, [6, 5, 4, 3])
    assert x.tolist() == [(4, 10), (3, 8), (2, 6), (1, 4)]
    assert kernel.overloads[(interval[::1], types.float32[::1])].signature[0].dtype == interval
    with pytest.raises(ArgumentError, match=r"declared are \(array\(Interval as Record\(low:float32@0, high:float32@4"):
        kernel[1, 4](np.zeros(4, [("high", np.float32), ("low", np.float32)]), out)


def test_kernels_of_users_types_are_not_shipped(tmp_path: Path) -> None:
    """What the cache would not take in another process, a wheel must not hold: nobody would find it."""

    @gpu.jit(warm=[gpu.void(interval[::1])])
    def kernel(x):
        x[0] = Interval(1, 2)

    arch = gpu.current_device().arch
    with pytest.raises(ShipError, match=r"cannot be cached: what array\(Interval as .* is known in this process only"):
        ship_kernel(kernel, ArchChoice([arch]), DiskCache(str(tmp_path)))
    assert list(tmp_path.iterdir()) == []


class NestedType(types.Type):
    """A number, an interval, a complex number: what lies between is padding."""


@extending.register_model(NestedType)
class NestedModel(extending.core_models.StructModel):
    def __init__(self, dmm, fe_type):
        members = [("flag", types.int8), ("inner", interval), ("last", types.complex128), ("end", types.boolean)]
        super().__init__(dmm, fe_type, members)


def test_layout_of_structs_in_structs() -> None:
    """Offsets by hand, after C's rules for the alignment of members."""
    nested = NestedType("Nested")

    @gpu.jit
    def kernel(x: object) -> None:
        pass

    (argument,) = kernel.compile((nested[::1],)).signature
    assert str(argument.dtype.layout) == (
        "Record(flag:int8@0, inner:Record(low:float32@0, high:float32@4; 8, aligned)@4, last:complex128@16, "
        "end:bool@32; 40, aligned)"
    )
    assert "known in this process only" in kernel.stats.misses[0][1]
    with pytest.raises(ArgumentError, match="cannot be of type Nested"):
        kernel.compile((nested,))


class OfRecordType(types.Type):
    """A number and a record, which lies unaligned in Numba's data model."""


@extending.register_model(OfRecordType)
class OfRecordModel(extending.core_models.StructModel):
    def __init__(self, dmm, fe_type):
        record = from_dtype(np.dtype([("x", np.float64)]))
        super().__init__(dmm, fe_type, [("flag", types.int8), ("inner", record)])


def test_structs_of_records_are_refused() -> None:
    @gpu.jit
    def kernel(x: object) -> None:
        pass

    with pytest.raises(ArgumentError, match=r"member 'inner' of OfRecord is of type Record.*can be numbers, and str"):
        kernel.compile((OfRecordType("OfRecord")[::1],))
