"""The double's GPU: when command buffers run. Before: commands.py commits them. After: tests.msl runs their kernels.

Unless it is eager, nothing runs until the host waits or has polled often enough: work is as late as it can be. Queues
are independent; a command buffer that waits for an event holds up its own queue only.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from tests.metal_double.world import World

if TYPE_CHECKING:
    from tests.metal_double.commands import CommandBuffer, CommandQueue, SharedEvent


class Gpu:
    """`pool_depth`: autorelease pools of each thread, of the whole process. `allocated_nbytes`: of live buffers."""

    def __init__(self, world: World, pool_depth: threading.local):
        self.world = world
        self.lock = threading.RLock()
        self.pool_depth = pool_depth
        self.allocated_nbytes = 0
        self._waiting: dict[CommandQueue, deque[CommandBuffer]] = {}

    def submit(self, command_buffer: CommandBuffer) -> None:
        with self.lock:
            self._waiting.setdefault(command_buffer.queue, deque()).append(command_buffer)
            while self.world.is_eager and self._step(command_buffer.queue):
                pass

    def run_until_done(self, command_buffer: CommandBuffer) -> bool:
        """Let the GPU work until a command buffer has ended; False if it never will."""
        with self.lock:
            while not command_buffer.has_ended:
                if not self._step(command_buffer.queue) and not self._step_any():
                    return False
            return True

    def run_until_signaled(self, event: SharedEvent, value: int) -> bool:
        """Let the GPU work until an event has a value; False if it never will."""
        with self.lock:
            while event.value < value:
                if not self._step_any():
                    return False
            return True

    def poll(self, command_buffer: CommandBuffer) -> None:
        """The host looked: after enough looks the command buffer has ended, if it can."""
        with self.lock:
            command_buffer.polls += 1
            if command_buffer.polls > self.world.polls_until_done:
                while not command_buffer.has_ended and self._step(command_buffer.queue):
                    pass

    def _step_any(self) -> bool:
        return any(self._step(queue) for queue in list(self._waiting))

    def _step(self, queue: CommandQueue) -> bool:
        """Run the next command buffer of a queue, if it can run now."""
        waiting = self._waiting.get(queue)
        if not waiting or not waiting[0].can_run():
            return False
        waiting.popleft().run()
        return True
