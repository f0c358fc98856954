"""What a throwing thread leaves for the host. Before: `gpu.throw` on the device. After: `launch.raising`.

One mailbox a stream (`channels`), in memory that the host can read. The first thrower claims it by an atomic exchange
of `lock` and writes the rest; every thrower adds one to `count`. Little-endian:

======  ======  =============================================================================
offset  type    field
======  ======  =============================================================================
0       uint32  count: threads that threw since the host last looked; 0 means all is well
4       uint32  lock: 0 free, 1 claimed; the CPU device says 2 once all fields are written
8       uint32  site: index into the Artifact's sites
12      uint32  details: bit 0: the numbers below were recorded, else only site and thread are known;
                bit 1, and where it is 0: more threads may have thrown than were counted
16      uint32  block[3]
28      uint32  thread[3]
40      uint64  program: the number that the device gave the program when it was loaded
48      uint64  numbers[4]: bit patterns for the site's holes
======  ======  =============================================================================
"""

from __future__ import annotations

import struct

from numba_gpucore.base.records import dataclass
from numba_gpucore.base.site import MAX_SITE_NUMBERS

_LAYOUT = struct.Struct(f"<4I3I3IQ{MAX_SITE_NUMBERS}Q")
MAILBOX_NBYTES = _LAYOUT.size
DETAILS_OFFSET, NUMBERS_OFFSET = 12, 48


@dataclass(frozen=True)
class ThrowReport:
    count: int
    site: int
    has_details: bool
    counts_all: bool
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    program: int
    numbers: tuple[int, ...]


def read_mailbox(data: bytes | bytearray | memoryview) -> ThrowReport | None:
    """Decode a mailbox of MAILBOX_NBYTES bytes; None when no thread threw."""
    count, _lock, site, details, b0, b1, b2, t0, t1, t2, program, *numbers = _LAYOUT.unpack_from(data)
    if count == 0:
        return None
    return ThrowReport(
        count, site, bool(details & 1), details == 1, (b0, b1, b2), (t0, t1, t2), program, tuple(numbers)
    )
