"""Step 3 of a call: from argument types to a loaded program. Before: signature. After: marshal, Device.launch.

A kernel's programs in this process; what it does not have comes from `store`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numba_gpucore.base.argtypes import ArgType
from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.backend import Backend, Device, Program
from numba_gpucore.base.errors import OptionError
from numba_gpucore.base.number_types import passed_type
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.settings import Settings
from numba_gpucore.base.target import Target
from numba_gpucore.launch.platform import Platform
from numba_gpucore.launch.session import ProgramSource, default_session
from numba_gpucore.launch.store import CacheStats

ArgTypes = tuple[ArgType, ...]


class ProgramTable:
    """Artifacts of one Python function by where they run and argument types, and the programs loaded from them."""

    def __init__(self, py_func: Callable[..., Any], platform: Platform, options: KernelOptions):
        self._py_func = py_func
        self._platform = platform
        self._options = options
        self._artifacts: dict[tuple[str, str, ArgTypes], Artifact] = {}
        self._programs: dict[tuple[Device, ArgTypes], Program] = {}
        self.stats = CacheStats()

    def request_for(self, device: Device, arg_types: ArgTypes) -> CompileRequest:
        """What decides the machine code for these types on this device."""
        backend = default_session().backend_of(self._platform, device)
        return self._make_request(backend, device.arch, arg_types, device.checks_bounds)

    def request_for_gpu(self, arch: Any, arg_types: ArgTypes) -> CompileRequest:
        """The same for an architecture of the target's own GPUs, which need not be here. Raises OptionError."""
        backend = default_session().backend(self._platform, self._platform.target.backends[0])
        return self._make_request(backend, backend.parse_arch(arch), arg_types, checks_bounds=False)

    def request_for_arch(self, arch: str, arg_types: ArgTypes) -> tuple[CompileRequest, Backend]:
        """The same for an architecture of any back-end of the target, with that back-end. Raises OptionError."""
        objections = []
        for kind in self._platform.target.backends:
            backend = default_session().backend(self._platform, kind)
            try:
                name = backend.parse_arch(arch)
            except OptionError as error:
                objections.append(str(error))
                continue
            return self._make_request(backend, name, arg_types, backend.checks_bounds), backend
        raise OptionError("; ".join(objections))

    def _make_request(self, backend: Backend, arch: str, arg_types: ArgTypes, checks_bounds: bool) -> CompileRequest:
        target = self._platform.target
        options = resolve_options(self._options, target, checks_bounds, default_session().settings)
        return CompileRequest(
            py_func=self._py_func,
            target=target,
            backend=backend.kind,
            codegen=backend.codegen,
            launch_abi=backend.launch_abi,
            arch=arch,
            arg_types=tuple(passed_type(type_, target, options) for type_ in arg_types),
            options=options,
        )

    def artifact_for(self, device: Device, arg_types: ArgTypes) -> Artifact:
        """The Artifact, compiled now if it is not known. Callers hold the session's miss lock."""
        request = self.request_for(device, arg_types)
        key = (device.kind, device.arch, request.arg_types)
        if key not in self._artifacts:
            self._artifacts[key] = self._obtain(device, request)
        return self._artifacts[key]

    def _obtain(self, device: Device, request: CompileRequest) -> Artifact:
        session = default_session()
        return session.store.obtain(request, session.backend_of(self._platform, device), self.stats)

    def program_for(self, device: Device, arg_types: ArgTypes) -> Program:
        """The program, loaded now if need be. Callers hold the session's miss lock."""
        key = (device, arg_types)
        if key not in self._programs:
            program = device.load(self.artifact_for(device, arg_types))
            default_session().note_source(device, program, self._source_on(device))
            self._programs[key] = program
        return self._programs[key]

    def _source_on(self, device: Device) -> ProgramSource:
        options, target = self._options, self._platform.target
        nobody_asked = options.boundscheck is None and not options.debug
        return ProgramSource(
            self._py_func,
            adds_cuda_place=options.debug and target.speaks_as_cuda,
            checks_unasked=device.checks_bounds and nobody_asked and default_session().settings.boundscheck is None,
        )

    def forget(self) -> None:
        """Compile all anew when it is asked for again."""
        self._artifacts.clear()
        self._programs.clear()

    def known_types(self) -> list[ArgTypes]:
        """Argument types that were compiled, in order and once each."""
        return list(dict.fromkeys(arg_types for _, _, arg_types in self._artifacts))

    def known_artifact(self, arg_types: ArgTypes) -> Artifact:
        """An Artifact for these types, whatever it runs on. Raises KeyError."""
        for (_, _, types), artifact in self._artifacts.items():
            if types == arg_types:
                return artifact
        raise KeyError(arg_types)


def resolve_options(options: KernelOptions, target: Target, checks_bounds: bool, settings: Settings) -> KernelOptions:
    """Options with the defaults that depend on target, device and environment filled in.

    Bounds checks: what the decorator says, else NUMBA_BOUNDSCHECK, else on with debug=True and where the device checks.
    float64, where the target has none: what the decorator says, else NUMBA_METAL_FLOAT64.
    """
    float64, boundscheck = options.float64, options.boundscheck
    if float64 is None and not target.rules.has_float64:
        float64 = settings.float64
    if boundscheck is None:
        boundscheck = settings.boundscheck
    if boundscheck is None:
        boundscheck = options.debug or checks_bounds
    return replace(options, float64=float64, boundscheck=boundscheck)
