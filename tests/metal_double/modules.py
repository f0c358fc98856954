"""The modules `Metal` and `objc` of the double. Before: World. After: numba_metal.driver.bridge imports them."""

from __future__ import annotations

import collections
import contextlib
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

from tests.metal_double import buffers, commands, device, encoder, programs
from tests.metal_double.gpu import Gpu
from tests.metal_double.objc_objects import AutoreleasePool, NSError, ObjCObject, load_facts, selectors_of
from tests.metal_double.world import World

#: Every class of the double, for generate_facts.py and the test that holds them against the facts.
CLASSES: tuple[type[ObjCObject], ...] = (
    device.Device,
    buffers.Buffer,
    buffers.NoCopyBuffer,
    programs.CompileOptions,
    programs.MetalLibrary,
    programs.Function,
    programs.ComputePipelineDescriptor,
    programs.ComputePipelineState,
    encoder.ComputeCommandEncoder,
    commands.SharedEvent,
    commands.CommandQueue,
    commands.CommandBuffer,
    NSError,
)
#: Functions of the module, which must be in the facts.
FUNCTIONS = ("MTLCopyAllDevices", "MTLSizeMake")


def unlisted_selectors() -> list[str]:
    """Selectors of the double that neither PyObjC's metadata lists nor name their documentation."""
    listed = load_facts()["selectors"]
    return [
        f"{cls.__name__} {name}"
        for cls in CLASSES
        for name, method in selectors_of(cls).items()
        if name not in listed and not method.documented
    ]


def make_modules(*worlds: World) -> tuple[types.ModuleType, types.ModuleType]:
    """(Metal, objc) for one Mac with a GPU for each world; anything not listed in the facts is an AttributeError."""
    facts = load_facts()
    pool_depth = threading.local()
    gpus = [Gpu(world, pool_depth) for world in worlds]
    metal = types.ModuleType("Metal", "A double of PyObjC's framework wrapper for Metal.")
    size_type = collections.namedtuple("MTLSize", facts["structs"]["MTLSize"])
    namespace: dict[str, Any] = dict(facts["enums"])
    namespace["MTLSize"] = size_type
    functions = {
        "MTLSizeMake": lambda width, height, depth: size_type(width, height, depth),
        "MTLCopyAllDevices": lambda: [device.Device(gpu, functions["MTLSizeMake"]) for gpu in gpus],
    }
    namespace.update({name: functions[name] for name in FUNCTIONS if name in facts["functions"]})
    namespace["MTLCompileOptions"] = programs.allocatable(lambda: programs.CompileOptions(worlds[0]))
    namespace["MTLComputePipelineDescriptor"] = programs.allocatable(programs.ComputePipelineDescriptor)
    vars(metal).update(namespace)
    objc = types.ModuleType("objc", "A double of PyObjC's core.")
    objc.autorelease_pool = lambda: AutoreleasePool(pool_depth)
    # PyObjC documentation, "objc -- The PyObjC bridge", objc.macos_available
    objc.macos_available = lambda major, minor=0, patch=0: (major, minor) <= worlds[0].macos
    return metal, objc


@contextlib.contextmanager
def installed(*worlds: World) -> Iterator[types.ModuleType]:
    """`import Metal` and `import objc` give the double inside the `with` block; yields Metal."""
    metal, objc = make_modules(*worlds)
    before = {name: sys.modules.get(name) for name in ("Metal", "objc")}
    sys.modules.update(Metal=metal, objc=objc)
    try:
        yield metal
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
