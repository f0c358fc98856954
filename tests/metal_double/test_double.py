"""The Metal double keeps PyObjC's facts and Metal's rules, so that a driver that breaks one fails on it."""

import numpy as np
import pytest

from tests.metal_double import RuleError, World, make_modules
from tests.metal_double.modules import CLASSES, unlisted_selectors
from tests.metal_double.objc_objects import load_facts, method_name, selectors_of

FILL = """#include <metal_stdlib>
using namespace metal;
struct Args { device int* x; };
kernel void fill(constant Args& args [[buffer(0)]], device int* y [[buffer(1)]], uint i [[thread_position_in_grid]])
{
    args.x[i] = y[i] + 1;
}
"""
TILE = """#include <metal_stdlib>
using namespace metal;
kernel void tile(threadgroup int* t [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]])
{
    t[i] = 1;
}
"""


class Bench:
    """A device with a pipeline of FILL's kernel, an encoder that is ready to dispatch it, and its buffers."""

    def __init__(self, source=FILL, entry="fill", **world):
        self.metal, self.objc = make_modules(World(**world))
        (self.device,) = self.metal.MTLCopyAllDevices()
        library, error = self.device.newLibraryWithSource_options_error_(source, self.options(), None)
        assert error is None, error.localizedDescription()
        descriptor = self.metal.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(library.newFunctionWithName_(entry))
        make = self.device.newComputePipelineStateWithDescriptor_options_reflection_error_
        self.pipeline, _ = make(descriptor, 0, None, None)
        self.queue = self.device.newCommandQueue()
        self.x, self.y = (self.device.newBufferWithLength_options_(256, 0) for _ in range(2))
        self.begin()

    def options(self):
        options = self.metal.MTLCompileOptions.alloc().init()
        options.setLanguageVersion_(self.metal.MTLLanguageVersion3_1)
        return options

    def begin(self):
        with self.objc.autorelease_pool():
            self.commands = self.queue.commandBuffer()
            self.encoder = self.commands.computeCommandEncoder()
        return self.encoder

    def bind(self, *, resident=True):
        pointer = np.uint64(self.x.gpuAddress()).tobytes()
        self.encoder.setComputePipelineState_(self.pipeline)
        self.encoder.setBytes_length_atIndex_(pointer, 8, 0)
        self.encoder.setBuffer_offset_atIndex_(self.y, 0, 1)
        if resident:
            self.encoder.useResource_usage_(self.x, self.metal.MTLResourceUsageWrite)

    def dispatch(self, groups=1, threads=64):
        size = self.metal.MTLSizeMake
        self.encoder.dispatchThreadgroups_threadsPerThreadgroup_(size(groups, 1, 1), size(threads, 1, 1))

    def run(self):
        self.encoder.endEncoding()
        self.commands.commit()
        self.commands.waitUntilCompleted()
        return self.commands.status()


# ---- what PyObjC knows


def test_every_selector_is_listed_or_documented():
    assert unlisted_selectors() == []
    documented = [
        (name, method.documented) for cls in CLASSES for name, method in selectors_of(cls).items() if method.documented
    ]
    listed = load_facts()["selectors"]
    assert not [name for name, _ in documented if name in listed], "PyObjC's metadata has these: no need to document"
    assert all(", " in where for _, where in documented)


def test_methods_have_pyobjcs_names():
    for cls in CLASSES:
        for name, method in selectors_of(cls).items():
            assert method.__name__ == method_name(name)


def test_what_is_not_listed_is_not_there():
    bench = Bench()
    with pytest.raises(AttributeError, match=r"no Device\.newHeap"):
        bench.device.newHeap()
    with pytest.raises(AttributeError):
        bench.metal.MTLCreateEverything()
    with pytest.raises(TypeError, match="setBuffer:offset:atIndex: takes 3 arguments, got 2"):
        bench.encoder.setBuffer_offset_atIndex_(bench.y, 0)


def test_arguments_have_the_types_of_the_metadata():
    bench = Bench()
    with pytest.raises(RuleError, match="setBuffer:offset:atIndex:, argument 1: an integer of type Q"):
        bench.encoder.setBuffer_offset_atIndex_(bench.y, -1, 0)
    with pytest.raises(RuleError, match="argument 0: a MTLSize is expected"):
        bench.encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), bench.metal.MTLSizeMake(1, 1, 1))
    with pytest.raises(RuleError, match="argument 0: an Objective-C object is expected"):
        bench.encoder.useResource_usage_(bench.x.contents(), 1)


def test_selectors_come_with_their_macos():
    assert not hasattr(Bench(macos=(14, 0)).options(), "setMathMode_")
    assert hasattr(Bench(macos=(15, 0)).options(), "setMathMode_")


# ---- what runs


def test_a_kernel_runs_when_the_host_waits():
    bench = Bench()
    x, y = (np.frombuffer(b.contents().as_buffer(256), np.int32) for b in (bench.x, bench.y))
    y[:] = np.arange(64)
    bench.bind()
    bench.dispatch()
    bench.encoder.endEncoding()
    bench.commands.commit()
    assert not x.any()
    bench.commands.waitUntilCompleted()
    assert x.tolist() == list(range(1, 65))
    assert bench.commands.status() == bench.metal.MTLCommandBufferStatusCompleted
    assert 0 < bench.commands.GPUStartTime() <= bench.commands.GPUEndTime()


def test_gpu_addresses_are_not_the_hosts():
    bench = Bench()
    host = np.frombuffer(bench.x.contents().as_buffer(256), np.uint8).ctypes.data
    assert host != bench.x.gpuAddress()


def test_what_is_not_resident_faults():
    bench = Bench()
    bench.bind(resident=False)
    bench.dispatch()
    assert bench.run() == bench.metal.MTLCommandBufferStatusError
    assert bench.commands.error().code() == bench.metal.MTLCommandBufferErrorPageFault


def test_residency_ends_with_the_encoder():
    bench = Bench()
    bench.bind()
    bench.dispatch()
    assert bench.run() == bench.metal.MTLCommandBufferStatusCompleted
    bench.begin()
    bench.bind(resident=False)
    bench.dispatch()
    assert bench.run() == bench.metal.MTLCommandBufferStatusError


def test_read_usage_does_not_allow_writes():
    bench = Bench()
    bench.bind(resident=False)
    bench.encoder.useResource_usage_(bench.x, bench.metal.MTLResourceUsageRead)
    bench.dispatch()
    assert bench.run() == bench.metal.MTLCommandBufferStatusError


def test_event_after_a_fault_is_not_signaled():
    bench = Bench()
    event = bench.device.newSharedEvent()
    bench.bind(resident=False)
    bench.dispatch()
    bench.encoder.endEncoding()
    bench.commands.encodeSignalEvent_value_(event, 1)
    bench.commands.commit()
    assert not event.waitUntilSignaledValue_timeoutMS_(1, 1)
    assert event.signaledValue() == 0


def test_refused_source_gives_an_error():
    bench = Bench()
    source = FILL.replace("y[i]", "z[i]")
    library, error = bench.device.newLibraryWithSource_options_error_(source, bench.options(), None)
    assert library is None
    assert "undeclared identifier 'z'" in error.localizedDescription()


# ---- what Metal's validation would stop


def broken_rules():
    """(what, steps on a Bench whose encoder is bound, text of the error)"""
    size = 64
    return [
        (
            "unbound buffer",
            lambda b: (b.run(), b.begin().setComputePipelineState_(b.pipeline), b.dispatch()),
            "nothing",
        ),
        ("no pipeline", lambda b: (b.run(), b.begin(), b.dispatch()), "no pipeline state"),
        ("buffer index", lambda b: b.encoder.setBuffer_offset_atIndex_(b.y, 0, 31), "index 31, the last is 30"),
        ("buffer offset", lambda b: b.encoder.setBuffer_offset_atIndex_(b.y, 256, 1), "not in the buffer"),
        ("long bytes", lambda b: b.encoder.setBytes_length_atIndex_(bytes(4100), 4100, 0), "limit 4096"),
        ("short bytes", lambda b: b.encoder.setBytes_length_atIndex_(bytes(4), 8, 0), "8 bytes of 4"),
        ("threadgroup length", lambda b: b.encoder.setThreadgroupMemoryLength_atIndex_(20, 0), "multiple of 16"),
        ("threads", lambda b: b.dispatch(1, 1025), "1025 threads a threadgroup, the pipeline allows 1024"),
        ("no threadgroups", lambda b: b.dispatch(0), "threadgroups of"),
        ("2**32 threads", lambda b: b.dispatch(2**32 // size, size), r"2\*\*32 threads"),
        ("open encoder", lambda b: b.commands.commit(), "has not ended"),
        ("second encoder", lambda b: b.commands.computeCommandEncoder(), "has not ended"),
        ("ended encoder", lambda b: (b.encoder.endEncoding(), b.dispatch()), "the encoder has ended"),
        ("second commit", lambda b: (b.run(), b.commands.commit()), "was committed"),
        ("no pool", lambda b: b.queue.commandBuffer(), "outside an autorelease pool"),
        ("buffer of nothing", lambda b: b.device.newBufferWithLength_options_(0, 0), "length 0"),
        ("bytes beyond a buffer", lambda b: b.x.contents().as_buffer(257), "beyond the 256 bytes"),
        (
            "part of a page",
            lambda b: b.device.newBufferWithBytesNoCopy_length_options_deallocator_(bytearray(100), 100, 0, None),
            "must be whole pages",
        ),
    ]


@pytest.mark.parametrize(("what", "steps", "text"), broken_rules(), ids=[rule[0] for rule in broken_rules()])
def test_broken_rule(what, steps, text):
    bench = Bench()
    bench.bind()
    bench.dispatch()
    with pytest.raises(RuleError, match=text):
        steps(bench)


def test_threadgroup_memory_needs_a_length():
    bench = Bench(TILE, "tile")
    bench.encoder.setComputePipelineState_(bench.pipeline)
    with pytest.raises(RuleError, match="no length for threadgroup memory 0"):
        bench.dispatch()
    bench.encoder.setThreadgroupMemoryLength_atIndex_(256, 0)
    bench.dispatch()
    assert bench.run() == bench.metal.MTLCommandBufferStatusCompleted


def test_too_many_command_buffers():
    bench = Bench()
    with bench.objc.autorelease_pool():
        made = [bench.queue.commandBuffer() for _ in range(63)]
        with pytest.raises(RuleError, match="more than 64 unfinished"):
            bench.queue.commandBuffer()
    assert len(made) == 63
