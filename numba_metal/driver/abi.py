"""How a kernel meets its launch: binding indices and facts. Before: nothing. After: numba_metal.codegen writes the
kernel's signature by it, numba_metal.driver binds the buffers by it. An Artifact's code is MSL text in UTF-8.

=====================  ==============================================================================
parameter              holds
=====================  ==============================================================================
`[[buffer(0)]]`        `constant Args&`: the parameter block of `base.params`, a member a slot in the
                       order and at the offsets of the slots; address slots hold device pointers.
                       A kernel without slots does not declare it
`[[buffer(1)]]`        `device` pointer to the mailbox of `base.mailbox`; only in kernels that throw or print
`[[buffer(2)]]`        `constant Launch&`: `struct Launch { ulong program; ulong dynamic_shared_nbytes; };`
                       `program` is what a throwing thread writes into the mailbox; only where needed
`[[threadgroup(0)]]`   `threadgroup` pointer to the dynamic shared memory; only where used
=====================  ==============================================================================

The grid is always given in whole threadgroups, so `threads_per_threadgroup` is the same everywhere.
"""

from __future__ import annotations

import struct

#: Raised whenever Artifacts made before can no longer be launched.
LAUNCH_ABI = 1

ARGS_INDEX = 0
MAILBOX_INDEX = 1
LAUNCH_INDEX = 2
DYNAMIC_SHARED_INDEX = 0

#: `struct Launch`: program number, bytes of dynamic shared memory.
LAUNCH_STRUCT = struct.Struct("<QQ")

#: Names of the Artifact's backend_facts.
FACT_MATH_MODE = "math_mode"  # index into MATH_MODES
FACT_MSL_VERSION = "msl_version"  # 100 * major + minor, as (3, 1) -> 301
FACT_THROWS = "throws"  # 1 if the kernel declares the mailbox
FACT_USES_DYNAMIC_SHARED = "uses_dynamic_shared"  # 1 if the kernel declares [[threadgroup(0)]]

#: In the order of MTLMathMode's values.
MATH_MODES = ("safe", "relaxed", "fast")
