"""Streams report each in a place of its own, and no report is lost with its stream."""

from __future__ import annotations

import gc

from numba_gpucore.base.channels import NO_THROWS, Channels, MappedChannel
from numba_gpucore.base.print_ring import CHANNEL_NBYTES


class Queue:
    pass


def open_channels() -> tuple[Channels[MappedChannel[bytearray]], list[bytearray]]:
    memories: list[bytearray] = []

    def open_channel() -> MappedChannel[bytearray]:
        memories.append(bytearray(CHANNEL_NBYTES))
        return MappedChannel(memories[-1], memoryview(memories[-1]))

    return Channels(open_channel), memories


def test_a_report_is_told_to_its_own_queue_and_to_who_asks_for_all():
    channels, _memories = open_channels()
    queues = Queue(), Queue()
    first, second = map(channels.lend, queues)
    first.memory[0] = 5
    assert channels.take_mailbox(second) == channels.take_mailbox(channels.default) == NO_THROWS
    assert channels.take_mailbox(first)[0] == 5
    assert channels.take_mailbox(first) == NO_THROWS
    second.memory[0] = 6
    assert channels.take_mailbox(None)[0] == 6
    assert channels.take_mailbox(None) == NO_THROWS


def test_channels_are_lent_again_once_their_reports_are_taken():
    channels, memories = open_channels()
    queue = Queue()
    lent = channels.lend(queue)
    lent.memory[0] = 1
    del queue
    gc.collect()
    other = Queue()
    assert channels.lend(other) is not lent
    assert channels.take_mailbox(None)[0] == 1
    third = Queue()
    assert channels.lend(third) is lent
    assert len(memories) == 3


def test_lost_lines_are_summed_over_all_and_told_once():
    channels, memories = open_channels()
    queue = Queue()
    channels.lend(queue)
    for memory, lost in zip(memories, (2, 3), strict=True):
        memory[136] = lost
    assert channels.take_prints().lost == 5
    assert channels.take_prints().lost == 0
    memories[1][136] += 1
    assert channels.take_prints().lost == 1
