"""Checks Metal Shading Language on Linux and runs it on the CPU. See checker.py and library.py for what it holds to."""

from tests.msl.checker import MslError, Report, check_msl
from tests.msl.library import KernelFault, Library, Order, compile_msl_library
from tests.msl.memory import DeviceBuffer

__all__ = [
    "DeviceBuffer",
    "KernelFault",
    "Library",
    "MslError",
    "Order",
    "Report",
    "check_msl",
    "compile_msl_library",
]
