"""Device arrays as globals and closure variables: their addresses become constants. Before: contexts. After: lowering.

As with NumPy arrays, the object that the name stands for when the kernel is compiled is meant. It is kept alive, and
kernels can write into it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from numba_gpucore.array_interface import is_foreign_array, layout_of_strides, read_interface
from numba_gpucore.compile.flags import active_flag
from numba_gpucore.compile.numba_api import errors, numpy_support, types

I64 = ir.IntType(64)


class CapturedArrayType(types.Array):
    """What Numba is told that a device array is: Numba asks for a read-only copy of the type of every global array, and
    gets the ordinary type of a writable one."""

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return super().copy(dtype, ndim, layout, readonly=not self.mutable)


def is_captured_array(value: Any) -> bool:
    """True for device arrays, ours and those of other packages."""
    return is_foreign_array(value) and not isinstance(value, type)


def type_captured_array(value: Any, target_name: str) -> CapturedArrayType:
    """Raises TypingError where the target cannot have one."""
    if active_flag("lacks_captured_arrays"):
        raise errors.TypingError(
            f"{target_name} has no device arrays as global or closure variables of a kernel — pass them as arguments"
        )
    view = read_interface(value)
    layout = layout_of_strides(view.shape, view.strides, view.dtype.itemsize)
    return CapturedArrayType(numpy_support.from_dtype(view.dtype), len(view.shape), layout, readonly=view.readonly)


def make_captured_array(context: Any, builder: ir.IRBuilder, type_: types.Array, value: Any) -> ir.Value:
    """The array structure with the address, extents and strides (bytes) that the array has now."""
    view = read_interface(value)
    context.active_code_library.hold(value)
    array = context.make_array(type_)(context, builder)
    context.populate_array(
        array,
        data=builder.inttoptr(I64(view.address), array.data.type),
        shape=[I64(extent) for extent in view.shape],
        strides=[I64(stride) for stride in view.strides],
        itemsize=I64(view.dtype.itemsize),
        meminfo=None,
        parent=None,
    )
    return array._getvalue()
