"""From the print ring to sys.stdout. Before: a synchronisation of a device on which a kernel prints. After: the user.

Lines of one thread come in the order in which it printed them; those of different threads in any order. Each is whole.
"""

from __future__ import annotations

import sys
import threading

from numba_gpucore.base.backend import Device
from numba_gpucore.base.print_line import PrintLine
from numba_gpucore.base.site import Hole
from numba_gpucore.launch.number_text import number_text


class PrintDrain:
    """Writes what the kernels of one device printed."""

    def __init__(self, device: Device):
        self._device = device
        self._lock = threading.Lock()

    def write_out(self) -> None:
        """Write what is complete, and say how many lines were lost since last time."""
        with self._lock:
            taken = self._device.take_prints()
            texts = [self._text(record.program, record.line, record.numbers) for record in taken.records]
        if taken.lost:
            lost = "1 line" if taken.lost == 1 else f"{taken.lost} lines"
            texts.append(f"[{self._device.name}: {lost} lost, the buffer for print was full; synchronize more often]\n")
        if texts:
            sys.stdout.write("".join(texts))

    def _text(self, program_number: int, line: int, numbers: tuple[int, ...]) -> str:
        program = self._device.program_of(program_number)
        lines = () if program is None else program.artifact.print_lines
        if line >= len(lines):
            return f"[{self._device.name}: a program that is not loaded any more printed]\n"
        return format_line(lines[line], numbers)


def format_line(line: PrintLine, numbers: tuple[int, ...]) -> str:
    """The text of a line; `numbers` are the bit patterns of its holes."""
    remaining = iter(numbers)
    return "".join(number_text(remaining, part) if isinstance(part, Hole) else part for part in line.parts)
