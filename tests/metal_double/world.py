"""What Mac the double is, and how its GPU behaves. Before: a test. After: every object of the double."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.msl import Order


@dataclass(frozen=True)
class World:
    """macos: (major, minor) decides which selectors there are, and which MSL its compiler takes.

    The GPU advances when the host waits, or has asked `polls_until_done` times for a command buffer's status: so
    programs that read too early get old bytes. is_eager: it runs everything at once, so that what is committed too
    early shows. pipeline_threads: kernel name -> threads a threadgroup that the compiler makes room for unless it is
    told otherwise, 1024 for others. hangs: names of kernels that never end. all_threads_must_arrive: a barrier that
    threads which have ended do not reach is a fault, by MSL 6.9.1; else they count as arrived, as CUDA has it.
    """

    macos: tuple[int, int] = (15, 0)
    gpu_families: frozenset[str] = frozenset({"MTLGPUFamilyMetal3", "MTLGPUFamilyApple7"})
    max_buffer_nbytes: int = 1 << 30
    memory_nbytes: int = 4 << 30
    polls_until_done: int = 3
    is_eager: bool = False
    pipeline_threads: Mapping[str, int] = field(default_factory=dict)
    max_pipeline_threads: int = 1024
    hangs: frozenset[str] = frozenset()
    order: Order = "forward"
    seed: int = 0
    trap_undefined: bool = False
    timeout_s: float = 20.0
    all_threads_must_arrive: bool = False

    @property
    def max_msl_version(self) -> tuple[int, int]:
        """MSL specification, "Compiler Options Controlling the Language Version"."""
        newest = {13: (3, 0), 14: (3, 1), 15: (3, 2), 26: (4, 0)}
        return newest[self.macos[0]]

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> World:
        """METAL_DOUBLE_ORDER: forward, reversed or shuffled. METAL_DOUBLE_TRAPS=1: undefined behaviour is a fault."""
        orders: dict[str, Order] = {"forward": "forward", "reversed": "reversed", "shuffled": "shuffled"}
        return cls(
            order=orders[environ.get("METAL_DOUBLE_ORDER", "forward")],
            trap_undefined=environ.get("METAL_DOUBLE_TRAPS") == "1",
        )
