"""Functions that NVIDIA's driver supplies to kernels. Before: memory. After: control.py calls them, a lane at a time.

CUDA C++ Programming Guide, "Formatted Output": `int vprintf(const char *format, const void *arguments)`, arguments
laid out as in a C struct, every float as double.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import numpy as np

from .errors import LaneFault
from .frames import Frame
from .memory import READABLE, WINDOW_BITS, WINDOWS

_CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(?:\.(\d+))?(hh|h|ll|l|z|j|t)?([diouxXcsfFeEgGaAp%])")


def _read_byte(frame: Frame, lane: int, address: int) -> int:
    window = address >> WINDOW_BITS
    names = {number: name for name, number in WINDOWS.items()}
    if names.get(window) not in ("global", "local", "shared"):
        raise LaneFault(f"vprintf reads address {address:#x}, which is in no state space", lane)
    name = names[window]
    space = frame.wave.space(name)
    local = address if name == "global" else address - (window << WINDOW_BITS)
    ids = np.array([lane])
    return int(space.load(space.locate(ids, np.array([local]), 1, READABLE), 1, 1)[0])


def _read(frame: Frame, lane: int, address: int, nbytes: int) -> bytes:
    return bytes(_read_byte(frame, lane, address + i) for i in range(nbytes))


def _read_string(frame: Frame, lane: int, address: int) -> str:
    octets = bytearray()
    while byte := _read_byte(frame, lane, address + len(octets)):
        octets.append(byte)
    return octets.decode()


def vprintf(frame: Frame, lane: int, arguments: list[bytes]) -> bytes:
    """Format as C does and hand the text to the machine; returns the number of conversions as int32."""
    format_address, position = (int.from_bytes(argument, "little") for argument in arguments)
    nconversions = 0

    def convert(match: re.Match) -> str:
        nonlocal position, nconversions
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        nconversions += 1
        is_wide = kind in "sfFeEgGaAp" or length in ("l", "ll", "z", "j", "t")
        nbytes = 8 if is_wide else 4
        position = -(-position // nbytes) * nbytes
        octets = _read(frame, lane, position, nbytes)
        position += nbytes
        spec = f"%{flags}{width}{'.' + precision if precision else ''}"
        if kind in "fFeEgG":
            return f"{spec}{kind}" % struct.unpack("<d", octets)
        if kind == "s":
            return f"{spec}s" % _read_string(frame, lane, int.from_bytes(octets, "little"))
        value = int.from_bytes(octets, "little", signed=kind in "di")
        if kind == "c":
            return f"{spec}c" % chr(value & 0xFF)
        if kind == "p":
            return f"{value:#x}"
        return f"{spec}{'d' if kind in 'diu' else kind}" % value

    text = _CONVERSION.sub(convert, _read_string(frame, lane, format_address))
    frame.wave.parts.print(text)
    return nconversions.to_bytes(4, "little")


HOST_FUNCTIONS: dict[str, Callable[[Frame, int, list[bytes]], bytes]] = {"vprintf": vprintf}
