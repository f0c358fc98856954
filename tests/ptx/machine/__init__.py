"""A machine that executes PTX text with NumPy, all lanes together. Before: nothing. After: tests/ptx.

lexer → parser → program (linking, binding by the tables in operations/) → wave (scheduling) over memory and frames.
"""

from .errors import PtxError, PtxFault, PtxSyntaxError, UnsupportedInstruction
from .machine import PtxMachine
from .memory import GlobalMemory

__all__ = ["GlobalMemory", "PtxError", "PtxFault", "PtxMachine", "PtxSyntaxError", "UnsupportedInstruction"]
