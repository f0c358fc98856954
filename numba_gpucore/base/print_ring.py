"""What printing threads leave for the host. Before: `gpu.print.*` on the device. After: `launch.printing`.

A ring of 32-bit words behind the mailbox, in the same memory: the channel. Offsets from the channel's start:

=================  ======  ======================================================================================
offset             type    field
=================  ======  ======================================================================================
RING_OFFSET        uint32  head: words that devices reserved so far, modulo 2**32
RING_OFFSET + 4    uint32  tail: words that the host took so far; a device reserves no more than what is free
RING_OFFSET + 8    uint32  lost: lines so far for which there was no room
RING_OFFSET + 12   uint32  told: lost lines of which the host was told; devices leave it alone
RECORDS_OFFSET     uint32  RING_WORDS words
=================  ======  ======================================================================================

A record starts at an even word: its count of words (written last, so that the host never takes half a record), the
number of the program, the index of the line among the Artifact's, 0, then two words for each number, low half first.
"""

from __future__ import annotations

from numba_gpucore.base.records import dataclass

RING_OFFSET = 128
RECORDS_OFFSET = 192
#: A power of two, so that a place in the ring is the low bits of a count of words.
RING_WORDS = 1 << 17
CHANNEL_NBYTES = RECORDS_OFFSET + 4 * RING_WORDS
RECORD_HEAD_WORDS = 4
#: Numbers in one line; a record must fit the ring several times over.
MAX_PRINT_NUMBERS = 1024

_HEAD, _TAIL, _LOST, _TOLD = (RING_OFFSET // 4 + i for i in range(4))
_RECORDS = RECORDS_OFFSET // 4
_MASK = RING_WORDS - 1


@dataclass(frozen=True)
class PrintRecord:
    program: int
    line: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class TakenPrints:
    """`lost`: lines for which there was no room since the last time."""

    records: tuple[PrintRecord, ...]
    lost: int


def take_prints(channel: memoryview) -> TakenPrints:
    """Take the complete records out of a writable channel of CHANNEL_NBYTES bytes, oldest first. Not thread-safe."""
    words = channel.cast("B").cast("I")
    records = []
    tail, head = words[_TAIL], words[_HEAD]
    while tail != head:
        count = words[_RECORDS + (tail & _MASK)]
        if count == 0:
            break
        record = [words[_RECORDS + ((tail + i) & _MASK)] for i in range(count)]
        numbers = tuple(low | high << 32 for low, high in zip(record[4::2], record[5::2], strict=True))
        records.append(PrintRecord(record[1], record[2], numbers))
        for i in range(count):
            words[_RECORDS + ((tail + i) & _MASK)] = 0
        tail = (tail + count) & 0xFFFFFFFF
    words[_TAIL] = tail
    lost = words[_LOST]
    newly_lost, words[_TOLD] = (lost - words[_TOLD]) & 0xFFFFFFFF, lost
    return TakenPrints(tuple(records), newly_lost)
