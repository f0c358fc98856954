"""What a kernel tells about itself: compiled signatures, texts of the stages, resources. Before: Kernel. After: users.

numba.cuda's names. Texts come from the compile half, through `miss`.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, TextIO

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.backend import Program
from numba_gpucore.base.errors import DeviceError, OptionError
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.records import dataclass
from numba_gpucore.launch import miss
from numba_gpucore.launch.configure import to_dim3
from numba_gpucore.launch.eager import kernel_arg_types
from numba_gpucore.launch.listing import Listing
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.programs import ArgTypes, ProgramTable
from numba_gpucore.launch.session import default_session
from numba_gpucore.launch.store import CacheStats

#: Pygments' names of the languages of stages, but for "asm", which is in the back-end's.
_STAGE_LANGUAGES: dict[miss.Stage, str] = {"types": "python", "llvm": "llvm", "machine": "text"}


class CompiledOverload:
    """One compiled signature. Numbers come from the compiled code; 0 where its back-end does not tell them.

    load: the program of this signature on the current device.
    """

    def __init__(
        self,
        artifact: Artifact,
        max_threads_per_block: int,
        load: Callable[[], Program],
        variable_types: Callable[[], dict[str, ArgType]],
        launch_config_sensitive: bool = False,
    ):
        self.artifact = artifact
        self.signature: ArgTypes = artifact.arg_types
        self.max_threads_per_block = max_threads_per_block
        self._load = load
        self._variable_types = variable_types
        #: Whether the code holds for the launch configuration only for which it was compiled.
        self.launch_config_sensitive = launch_config_sensitive

    def __repr__(self) -> str:
        return f"<compiled {self.artifact.kernel_name}({', '.join(map(str, self.signature))})>"

    @property
    def _type_annotation(self) -> VariableTypes:
        """numba.cuda's tests and some programs look at the types of variables here."""
        return VariableTypes(self._variable_types())

    def _fact(self, name: str) -> int:
        return dict(self.artifact.backend_facts).get(name, 0)

    @property
    def regs_per_thread(self) -> int:
        return self._fact("registers_per_thread")

    @property
    def shared_mem_per_block(self) -> int:
        """Static shared memory in bytes."""
        return self.artifact.shared_nbytes

    @property
    def cooperative(self) -> bool:
        """Whether the kernel waits for its whole grid, so that all blocks of a launch run at once."""
        return bool(self._fact("cooperative") or self._fact("grid_barrier"))

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Blocks of that shape, with `dynsmemsize` bytes of dynamic shared memory each, that can run at once on the
        current device. Raises DeviceError where the device cannot tell."""
        program = self._load()
        tell = getattr(program, "max_resident_blocks", None)
        if tell is None:
            raise DeviceError(f"the {self.artifact.backend} device does not tell how many blocks run at once")
        blocks: int = tell(math.prod(to_dim3(blockdim, "blockdim")), dynsmemsize)
        return blocks

    @property
    def const_mem_size(self) -> int:
        return self._fact("constant_nbytes")

    @property
    def local_mem_per_thread(self) -> int:
        return self._fact("local_nbytes")


@dataclass(frozen=True)
class VariableTypes:
    """`typemap`: the types of a kernel's variables, by name, as records of ours; other types are left out."""

    typemap: dict[str, ArgType]


class OverloadTable(dict[ArgTypes, CompiledOverload]):
    """Compiled signatures by argument types; also found by Numba's types and by signature strings."""

    def __missing__(self, signature: Any) -> CompiledOverload:
        types = kernel_arg_types(signature)
        if types not in self:
            raise KeyError(signature)
        return self[types]


class KernelReports:
    """The part of Kernel that inspects; it reads what Kernel sets."""

    py_func: Callable[..., Any]
    platform: Platform
    options: KernelOptions
    _programs: ProgramTable
    _sensitive: set[ArgTypes]
    _declared: tuple[ArgTypes, ...]

    @property
    def specialized(self) -> bool:
        raise NotImplementedError

    @property
    def overloads(self) -> OverloadTable:
        limit = default_session().current_device(self.platform).limits.max_threads_per_block
        bounds = self.options.launch_bounds
        threads = min(limit, bounds[0]) if bounds else limit
        table = OverloadTable()
        for types in self._programs.known_types():
            artifact = self._programs.known_artifact(types)
            load = functools.partial(self._load_program, types)
            types_of = functools.partial(self._variable_types_of, types)
            table[types] = CompiledOverload(artifact, threads, load, types_of, types in self._sensitive)
        return table

    def _request_of(self, types: ArgTypes) -> CompileRequest:
        return self._programs.request_for(default_session().current_device(self.platform), types)

    def _variable_types_of(self, types: ArgTypes) -> dict[str, ArgType]:
        return miss.variable_types(self._request_of(types))

    def _load_program(self, types: ArgTypes) -> Program:
        session = default_session()
        with session.miss_lock:
            return self._programs.program_for(session.current_device(self.platform), types)

    @property
    def stats(self) -> CacheStats:
        """Which signatures were found on disk and which were compiled, with the reason of each miss."""
        stats = self._programs.stats
        stats.cache_path = default_session().store.folder_for(self.options)
        return stats

    @property
    def signatures(self) -> list[ArgTypes]:
        """Declared and compiled argument types."""
        return list(dict.fromkeys((*self._declared, *self._programs.known_types())))

    @property
    def nopython_signatures(self) -> list[ArgTypes]:
        return self.signatures

    def inspect_llvm(self, signature: Any = None) -> Any:
        """LLVM device IR for one signature, else a dictionary of those of all compiled ones."""
        return self._texts("llvm", signature)

    def inspect_asm(self, signature: Any = None, cc: Any = None) -> Any:
        """What the back-end emits (MSL, PTX, LLVM assembly), as `inspect_llvm` gives it.

        cc: an architecture of the target's own GPUs, such as a compute capability, which need not be here.
        """
        return self._texts("asm", signature, cc)

    def inspect_msl(self, signature: Any = None, msl_version: tuple[int, int] | None = None) -> Any:
        """The Metal Shading Language of a numba_metal kernel, as `inspect_llvm` gives it; no GPU is needed.

        msl_version: (major, minor); else what this Mac's GPU gets, or that of the oldest macOS with such GPUs where
        there is none. Raises OptionError for kernels of other packages.
        """
        if self.platform.target.name != "metal":
            raise OptionError(f"kernels of {self.platform.target.package} have no MSL; inspect_asm() gives their text")
        if msl_version is not None:
            return self._texts("asm", signature, ".".join(map(str, msl_version)))
        session = default_session()
        if session.current_device(self.platform).kind == "metal":
            return self._texts("asm", signature)
        return self._texts("asm", signature, session.backend(self.platform, "metal").default_arch)

    def inspect_sass(self, signature: Any = None, cc: Any = None) -> Any:
        """The machine code that the vendor's assembler makes of `inspect_asm`, disassembled. Raises ToolchainError
        where the back-end or the vendor's tools offer none."""
        return self._texts("machine", signature, cc)

    def inspect_types(self, file: TextIO | None = None, pretty: bool = False) -> None:
        """Print Numba's typed source for every compiled signature, on a terminal in colour if Pygments is installed.

        pretty: in colour everywhere; then raises ModuleNotFoundError without Pygments.
        """
        for types, listing in self._texts("types", None).items():
            print(f"{self.py_func.__name__} ({', '.join(map(str, types))})", file=file)
            print("-" * 80, file=file)
            print(listing.coloured(file or sys.stdout, always=pretty), file=file)

    def _texts(self, stage: miss.Stage, signature: Any, cc: Any = None) -> Any:
        if signature is not None:
            return self._text(stage, kernel_arg_types(signature), cc)
        return {types: self._text(stage, types, cc) for types in self.signatures}

    def _text(self, stage: miss.Stage, types: tuple[ArgType, ...], cc: Any) -> Listing:
        if cc is not None:
            request = self._programs.request_for_gpu(cc, types)
        else:
            request = self._request_of(types)
        emitted = default_session().backend(self.platform, request.backend).language
        return Listing(miss.inspect(request, stage), _STAGE_LANGUAGES.get(stage, emitted))

    def _resource(self, name: str, signature: Any) -> Any:
        overloads = self.overloads
        if signature is not None:
            return getattr(overloads[signature], name)
        if self.specialized:
            return getattr(next(iter(overloads.values())), name)
        return {types: getattr(overload, name) for types, overload in overloads.items()}

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Registers of a thread, for one signature or a dictionary for all; 0 where the back-end does not tell."""
        return self._resource("regs_per_thread", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Static shared memory of a block in bytes."""
        return self._resource("shared_mem_per_block", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Constant memory in bytes; 0 where the back-end does not tell."""
        return self._resource("const_mem_size", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Local memory of a thread in bytes; 0 where the back-end does not tell."""
        return self._resource("local_mem_per_thread", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """Threads that a block may have."""
        return self._resource("max_threads_per_block", signature)
