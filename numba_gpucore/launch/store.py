"""Where Artifacts come from: the layers on disk, else the compiler. Before: programs. After: Device.load.

Layers, in order: the user's cache folder, then the `__warm__` folder that the kernel's own package ships (read-only,
and valid across versions of NumPy, Numba and llvmlite, since finished machine code does not need them). A kernel whose
fingerprint cannot be told is compiled each time.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CodeType

from numba_gpucore import __version__
from numba_gpucore.base.argtypes import is_of_one_process
from numba_gpucore.base.artifact import Artifact, CompileRequest
from numba_gpucore.base.backend import Backend
from numba_gpucore.base.key import CacheKey
from numba_gpucore.base.options import KernelOptions
from numba_gpucore.base.own_source import digest_own_source, read_shipped_digest, state_of_own_source
from numba_gpucore.base.records import dataclass, field
from numba_gpucore.base.settings import Settings
from numba_gpucore.base.site import Frame
from numba_gpucore.base.versions import COMPILING_PACKAGES, version_of
from numba_gpucore.launch import miss
from numba_gpucore.launch.cache import NOT_THERE, DiskCache, Lookup
from numba_gpucore.launch.fingerprint import Fingerprint, take_fingerprint
from numba_gpucore.launch.overload_files import OverloadFiles
from numba_gpucore.launch.registered_overloads import RegisteredOverloads
from numba_gpucore.launch.rewrites import registered_rewrites

WARM_FOLDER = "__warm__"
_OWN_PACKAGE = "numba_gpucore"


@dataclass
class CacheStats:
    """What became of a kernel's signatures: `hits` by signature, `misses` by signature with the reason of each, and
    those of `misses` that were `unkept` though they should be kept, so that the next process misses them too.

    cache_path: the folder in which they are kept; None where the kernel asks for none.
    """

    hits: list[tuple[str, ...]] = field(default_factory=list)
    misses: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    unkept: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    cache_path: str | None = None

    @property
    def cache_hits(self) -> Counter[tuple[str, ...]]:
        """numba.cuda's name: how often each signature was found."""
        return Counter(self.hits)

    @property
    def cache_misses(self) -> Counter[tuple[str, ...]]:
        """numba.cuda's name: how often each signature was compiled."""
        return Counter(signature for signature, _reason in self.misses)


class KernelStore:
    """The layers of one process. may_keep: asked after compiling, whether the result holds for other launches too.

    keeps_overloads: what is lowered of Numba's functions is kept for other processes.
    """

    def __init__(self, settings: Settings, may_keep: Callable[[], bool] = lambda: True):
        self._settings = settings
        self._may_keep = may_keep
        self._user = DiskCache(
            settings.cache_folder, max_nbytes=settings.cache_max_nbytes, trusted=settings.trusts_cache
        )
        self._warm: dict[str, DiskCache | None] = {}
        self._registered = RegisteredOverloads()
        self._own_source: str | None = None
        self.keeps_overloads = False

    def obtain(self, request: CompileRequest, backend: Backend, stats: CacheStats) -> Artifact:
        """The Artifact for a request: found, or compiled and kept. Raises what compiling raises."""
        fingerprint, key, lookup = self._look_up(request, backend)
        if lookup.artifact is not None:
            return self._note_hit(request, lookup.artifact, lookup.reason, stats)
        if key is None or not self.keeps(request.options):
            self._note_miss(request, lookup.reason, stats)
            return self._compile(request)
        with self._user.being_compiled(key, is_there=lambda: os.path.exists(self._user.path_of(key))):
            # Another process may have compiled it while this one waited.
            again = _find(self._user, key, request, fingerprint)
            if again.artifact is not None:
                return self._note_hit(request, again.artifact, f"another process was faster: {again.reason}", stats)
            self._note_miss(request, lookup.reason, stats)
            artifact = number_functions(self._compile(request), fingerprint)
            obstacle = self._obstacle_to_keeping_result(artifact) or self._user.store(key, artifact)
            if obstacle:
                stats.unkept.append((_signature_of(request), obstacle))
            self._explain(request, f"not kept: {obstacle}" if obstacle else f"kept in {self._user.path_of(key)}")
            return artifact

    def _note_hit(self, request: CompileRequest, artifact: Artifact, reason: str, stats: CacheStats) -> Artifact:
        stats.hits.append(_signature_of(request))
        self._explain(request, reason)
        return artifact

    def _note_miss(self, request: CompileRequest, reason: str, stats: CacheStats) -> None:
        stats.misses.append((_signature_of(request), reason))
        self._explain(request, f"compiled: {reason}")

    def reason_to_compile(self, request: CompileRequest, backend: Backend) -> str | None:
        """Why a request would be compiled; None if it would be found."""
        _fingerprint, _key, lookup = self._look_up(request, backend)
        return lookup.reason if lookup.artifact is None else None

    def folder_for(self, options: KernelOptions) -> str | None:
        """Where kernels with these options are kept; None if nowhere."""
        return self._user.folder if self.keeps(options) else None

    def keeps(self, options: KernelOptions) -> bool:
        """Whether kernels with these options are kept in the user's cache folder, and looked for there."""
        return self._settings.caches_by_default if options.cache is None else options.cache

    def _look_up(self, request: CompileRequest, backend: Backend) -> tuple[Fingerprint, CacheKey | None, Lookup]:
        """What the layers have for a request; no key where there is an obstacle to keeping it, or no wish."""
        if request.options.cache is False:
            return Fingerprint(None), None, Lookup(None, "caching is off: the kernel says cache=False")
        fingerprint = take_fingerprint(request.py_func, self._registered)
        obstacle = obstacle_to_keeping(request, fingerprint)
        if fingerprint.digest is None or obstacle:
            return fingerprint, None, Lookup(None, f"cannot be cached: {obstacle}")
        key = make_key(request, backend, fingerprint, self.own_source())
        missed = Lookup(None, "caching is off; set NUMBA_CACHE_DIR or cache=True")
        for number, (layer, layer_key) in enumerate(self._layers(request, backend, key)):
            lookup = _find(layer, layer_key, request, fingerprint)
            if lookup.artifact is not None and backend.runs_on(lookup.artifact, request.arch):
                return fingerprint, key, lookup
            if lookup.artifact is not None:
                lookup = Lookup(None, f"what is shipped for {layer_key.arch} does not run on {request.arch}")
            if number == 0 or lookup.reason != NOT_THERE:
                missed = lookup
        return fingerprint, key, missed

    def own_source(self) -> str:
        """The digest of our own source. In a checkout the cache folder remembers it, so that it is computed once."""
        if self._own_source is None:
            self._own_source = read_shipped_digest() or self._user.remember(
                f"own_source_{state_of_own_source()}", digest_own_source
            )
        return self._own_source

    def _layers(self, request: CompileRequest, backend: Backend, key: CacheKey) -> Iterator[tuple[DiskCache, CacheKey]]:
        """Where to look, and for which keys, in order."""
        if self.keeps(request.options):
            yield self._user, key
        warm = self._warm_layer(request.py_func.__module__ or "")
        if warm is not None:
            # A package ships for few architectures, which newer devices run too.
            for arch in (request.arch, *backend.older_archs(request.arch)):
                yield warm, replace(key, arch=arch).without_versions()

    def _warm_layer(self, module_name: str) -> DiskCache | None:
        package = package_of(module_name)
        if package is None:
            return None
        if package not in self._warm:
            folder = warm_folder_of(package)
            # Whoever wrote the package's modules, which Python runs, wrote the kernels beside them.
            layer = DiskCache(folder, writable=False, trusted=True) if os.path.isdir(folder) else None
            self._warm[package] = layer
        return self._warm[package]

    def _obstacle_to_keeping_result(self, artifact: Artifact) -> str:
        """Why other launches must not have what was compiled; empty where they may."""
        unknown = ", ".join(source.module for source in artifact.sources if not source.source_digest)
        if unknown:
            return f"it uses overloads of {unknown}, whose source cannot be found"
        return "" if self._may_keep() else "it was compiled for one launch configuration"

    def _compile(self, request: CompileRequest) -> Artifact:
        return miss.compile_kernel(request, self._settings.dump_folder, self.overloads())

    def overloads(self, finds: bool = True) -> OverloadFiles:
        """Where lowered implementations of Numba's functions are kept. finds: False to have all made anew."""
        shipped = self._warm_layer(_OWN_PACKAGE)
        layers = (self._user,) if shipped is None else (self._user, shipped)
        return OverloadFiles(layers, self.own_source, self.keeps_overloads, finds)

    def _explain(self, request: CompileRequest, decision: str) -> None:
        if self._settings.explains_cache:
            signature = ", ".join(map(str, request.arg_types))
            print(f"[cache] {request.py_func.__qualname__}({signature}): {decision}", file=sys.stderr)


def _find(layer: DiskCache, key: CacheKey, request: CompileRequest, fingerprint: Fingerprint) -> Lookup:
    """What a layer has for a key, its lines where the live functions are now."""
    lookup = layer.find(key, request.arg_types)
    if lookup.artifact is None:
        return lookup
    try:
        return replace(lookup, artifact=rebase_sites(lookup.artifact, fingerprint))
    except IndexError:  # nothing that the cache writes: the key tells which functions there are
        return Lookup(None, "its lines are in functions that the kernel does not have")


def _signature_of(request: CompileRequest) -> tuple[str, ...]:
    return tuple(map(str, request.arg_types))


def obstacle_to_keeping(request: CompileRequest, fingerprint: Fingerprint) -> str:
    """Why a kernel is compiled in each process; empty where it is not."""
    if fingerprint.digest is None:
        return fingerprint.obstacle
    own = ", ".join(str(type_) for type_ in request.arg_types if is_of_one_process(type_))
    if own:
        return f"what {own} means is known in this process only"
    unknown = ", ".join(name for name, digest in registered_rewrites() if not digest)
    return f"the source of the rewrite {unknown} cannot be found" if unknown else ""


def make_key(request: CompileRequest, backend: Backend, fingerprint: Fingerprint, own_source: str) -> CacheKey:
    """The key of a request whose function has a fingerprint with a digest. own_source: a digest of our own source."""
    assert fingerprint.digest is not None, fingerprint.obstacle
    return CacheKey(
        fingerprint=fingerprint.digest,
        kernel_name=request.py_func.__qualname__,
        signature=_signature_of(request),
        options=_options_text(request.options, fingerprint),
        target=f"{request.target.name} {request.target.rules}",
        backend=request.backend,
        arch=request.arch,
        launch_abi=request.launch_abi,
        bytecode_magic=importlib.util.MAGIC_NUMBER.hex(),
        versions=(
            *((name, version_of(name)) for name in COMPILING_PACKAGES),
            ("numba-metal", f"{__version__} {own_source}"),
            ("toolchain", backend.toolchain_id()),
        ),
    )


def _options_text(options: KernelOptions, fingerprint: Fingerprint) -> str:
    text = str(replace(options, cache=None))
    if options.wants_lines:
        # The machine code names files and their lines.
        codes = (function.__code__ for function in fingerprint.functions)
        text += "".join(f" {code.co_filename}:{code.co_firstlineno}" for code in codes)
    rewrites = registered_rewrites()
    return f"{text} {rewrites}" if rewrites else text


def package_of(module_name: str) -> str | None:
    """The outermost package with an `__init__.py` that an imported module is in or is; None for a script, and for a
    module by itself. Namespace packages have no folder of their own."""
    if module_name == "__main__":
        spec = getattr(sys.modules["__main__"], "__spec__", None)  # of `python -m`
        module_name = "" if spec is None else spec.name
    parts = module_name.split(".")
    names = (".".join(parts[: count + 1]) for count in range(len(parts)))
    return next((name for name in names if os.path.basename(_file_of(name)) == "__init__.py"), None)


def warm_folder_of(package: str) -> str:
    """Where an imported package keeps kernels that were compiled when it was built."""
    return os.path.join(os.path.dirname(_file_of(package)), WARM_FOLDER)


def _file_of(module_name: str) -> str:
    return getattr(sys.modules.get(module_name), "__file__", None) or ""


def number_functions(artifact: Artifact, fingerprint: Fingerprint) -> Artifact:
    """The Artifact with the numbers of the functions in which its exception sites are."""
    functions = [
        (function.__qualname__, function.__code__, _last_line(function.__code__)) for function in fingerprint.functions
    ]

    def add_number(frame: Frame) -> Frame:
        found = [
            (name == frame.function, code.co_firstlineno, number)
            for number, (name, code, last_line) in enumerate(functions)
            if code.co_filename == frame.filename and code.co_firstlineno <= frame.line <= last_line
        ]
        if not found:
            return frame
        # What Numba has inlined is the caller's by name: then the innermost that has the line.
        _is_named, first_line, number = max(found)
        return replace(frame, first_line=first_line, line_offset=frame.line - first_line, function_number=number)

    return replace(artifact, sites=tuple(site.with_frames(add_number) for site in artifact.sites))


def _last_line(code: CodeType) -> int:
    """Of a function, with functions inside it."""
    inner = [_last_line(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return max([code.co_firstlineno, *inner, *(line for _start, _end, line in code.co_lines() if line)])


def rebase_sites(artifact: Artifact, fingerprint: Fingerprint) -> Artifact:
    """The Artifact with the lines of its exception sites where the live functions are now.

    Raises IndexError where it has the number of a function that is not there.
    """

    def rebase(frame: Frame) -> Frame:
        if frame.function_number is None:
            return frame
        code = fingerprint.functions[frame.function_number].__code__
        return Frame(frame.function, code.co_filename, code.co_firstlineno, frame.line_offset, frame.function_number)

    return replace(artifact, sites=tuple(site.with_frames(rebase) for site in artifact.sites))
