"""A scalar build of one thread of a flat program, for the details of its exception. Before: flat_program. After: emit.

The vectorised code of some flat programs only tells which thread threw where. After the launch that one thread is run
again to find the numbers of its exception (`CpuDevice`), so that finding them costs nothing while all is well.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from numba_gpucore.base.late_pattern import late_pattern
from numba_gpucore.cpu.definitions import read_ir, write_out_records
from numba_gpucore.cpu.loader import replay_symbol
from numba_gpucore.cpu.program import ProgramBuilder
from numba_gpucore.cpu.replay_text import NotReplayable, make_harmless
from numba_gpucore.cpu.thread_text import NOTE_THROW, ThreadText

_REPLAY, _KEEP_THROW = "gpu.replay", "gpu.keep_throw"
_PARAMS = late_pattern(r", \{(.*)\} %params\)")


def build_replay(builder: ProgramBuilder, text: str) -> llvm.ModuleRef | None:
    """The replay of a thread, from the text of a module with the thread's simplified code, all values named. None
    where there is nothing to find, and for code that cannot be run again alone."""
    job = builder.job
    if not job.request.options.boundscheck or not any(site.holes for site in job.sites):
        return None
    thread = ThreadText.find(text)
    try:
        body = make_harmless(thread.body)
    except NotReplayable:
        return None
    harmless = text.replace(thread.body, body).replace(f"@{NOTE_THROW}(", f"@{_KEEP_THROW}(")
    params = _PARAMS.search(thread.head)
    assert params is not None
    replay = write_out_records([read_ir("replay")], (params[1],))
    module = builder.inline_all([harmless, *replay], frozenset({_REPLAY}))
    module.get_function(_REPLAY).name = replay_symbol(job.entry)
    return module
