"""How much memory a suspended thread really needs. Before: a coroutine program with room to spare. After: another.

Threads lie one behind the other in memory, and a block's threads should fit into the first-level cache together: with
256 bytes for each of 256 threads that used 64, a histogram in shared memory took twice as long. LLVM tells the size of
a coroutine's frame only when it does not fit; otherwise it shows in the places that the code uses.
"""

from __future__ import annotations

import re

from numba_gpucore.base.late_pattern import late_pattern

#: The start and the continuations of a thread; their first parameter is the frame.
_FUNCTION = late_pattern(
    r"^define [^\n]*@gpu\.run_thread[\w.]*\(ptr [^%]*(?P<frame>%[\w.]+)[^\n]*\{\n(?P<body>.*?)^\}$",
    re.MULTILINE | re.DOTALL,
)
_PLACE = late_pattern(r"^  (%[\w.]+) = getelementptr (?:\w+ )*i8, ptr (%[\w.]+), i64 (\d+)$")
_LOAD = late_pattern(r"^  %[\w.]+ = load ([^,]+), ptr (%[\w.]+)(?:,|$)")
_STORE = late_pattern(r"^  store ([^,]+?) (\S+), ptr (%[\w.]+)(?:,|$)")
_SCALAR_NBYTES = {"half": 2, "float": 4, "double": 8, "ptr": 8}
_VECTOR = late_pattern(r"^[<\[](\d+) x (\S+)[>\]]$")
_ALIGNMENT = late_pattern(r" align (\d+)")


def limit_alignment(text: str, align_nbytes: int) -> str:
    """Device IR whose local arrays are aligned to `align_nbytes` at most, as frames are, and all accesses, which know
    it from them: LLVM's accesses fail where a frame promises more than it keeps."""
    return _ALIGNMENT.sub(lambda found: f" align {min(int(found[1]), align_nbytes)}", text)


def frame_size(text: str) -> int | None:
    """Bytes that the frames of a module's threads use; None if it does not show, as with arrays in frames."""
    extents: list[int] = []
    for match in _FUNCTION.finditer(text):
        extent = _function_extent(match["frame"], match["body"])
        if extent is None:
            return None
        extents.append(extent)
    return max(extents, default=None)


def _function_extent(frame: str, body: str) -> int | None:
    """Where the last access of one function to its frame ends."""
    places, end = {frame: 0}, 0
    for line in body.splitlines():
        if place := _PLACE.match(line):
            name, base, offset = place.groups()
            if base in places:
                places[name] = places[base] + int(offset)
            continue
        if load := _LOAD.match(line):
            type_, address = load.groups()
        elif store := _STORE.match(line):
            type_, value, address = store.groups()
            if value in places:
                return None
        else:
            type_, address = "", ""
        if address in places:
            nbytes = _nbytes(type_)
            if nbytes is None:
                return None
            end = max(end, places[address] + nbytes)
        elif any(word in places for word in re.findall(r"%[\w.]+", line)):
            return None
    return end


def _nbytes(type_: str) -> int | None:
    if type_ in _SCALAR_NBYTES:
        return _SCALAR_NBYTES[type_]
    if re.match(r"i\d+$", type_):
        return -(-int(type_[1:]) // 8)
    if match := _VECTOR.match(type_):
        item = _nbytes(match.group(2))
        return None if item is None else int(match.group(1)) * item
    return None
