"""Sizes of types that are computed are those that LLVM tells."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from numba_gpucore.compile.code_library import DATA_LAYOUT
from numba_gpucore.compile.type_sizes import size_and_alignment

I8, I64, F16, F32 = ir.IntType(8), ir.IntType(64), ir.HalfType(), ir.FloatType()
NUMBERS = [*map(ir.IntType, (1, 3, 8, 9, 16, 17, 24, 31, 32, 33, 48, 63, 64)), F16, F32, ir.DoubleType()]
COMPOUNDS = [
    I8.as_pointer(),
    ir.ArrayType(ir.IntType(24), 5),
    ir.ArrayType(I64, 0),
    ir.LiteralStructType([]),
    ir.LiteralStructType([I8, I64, F16]),
    ir.LiteralStructType([I64, I8]),
    ir.LiteralStructType([I8.as_pointer(), I8.as_pointer(), I64, I64, F32.as_pointer(), *[ir.ArrayType(I64, 2)] * 2]),
    ir.ArrayType(ir.LiteralStructType([F16, I8, ir.LiteralStructType([I8, F32])]), 3),
]
LEFT_TO_LLVM = [
    ir.IntType(65),
    ir.VectorType(F32, 3),
    ir.LiteralStructType([I8, I64], packed=True),
    ir.LiteralStructType([I8, ir.VectorType(F32, 4)]),
    ir.ArrayType(ir.IntType(128), 2),
]


@pytest.mark.parametrize("type_", [*NUMBERS, *COMPOUNDS], ids=str)
def test_sizes_are_llvms(type_: ir.Type) -> None:
    data = llvm.create_target_data(DATA_LAYOUT)
    assert size_and_alignment(type_) == (type_.get_abi_size(data), type_.get_abi_alignment(data))


@pytest.mark.parametrize("type_", LEFT_TO_LLVM, ids=str)
def test_other_types_are_left_to_llvm(type_: ir.Type) -> None:
    assert size_and_alignment(type_) is None
