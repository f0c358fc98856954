"""What docs/porting.md says that the code does not: numba.cuda's names, how some differ, why tests do not pass.

Names are those of numba-cuda 0.30.4: of the package `numba.cuda`, of `Kernel` (its dispatcher), `ConfiguredKernel`,
`Overload` (a compiled signature), `DeviceArray`, `Stream`, `Event`, `Device`, `Context`. `generate_porting.py` looks
each up in the code.
"""

from __future__ import annotations

_VECTORS = " ".join(
    f"{name}{count}"
    for name in (
        "int8x", "int16x", "int32x", "int64x", "uint8x", "uint16x", "uint32x", "uint64x", "float32x", "float64x",
        "char", "short", "int", "long", "longlong", "uchar", "ushort", "uint", "ulong", "ulonglong", "float", "double",
    )
    for count in (1, 2, 3, 4)
)  # fmt: skip

#: Topic → names, separated by white space.
NAMES: dict[str, str] = {
    "Places of a thread": """
        threadIdx blockIdx blockDim gridDim laneid warpsize grid gridsize
    """,
    "Waiting": """
        syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp threadfence threadfence_block
        threadfence_system nanosleep cg
    """,
    "Warps": """
        shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync all_sync any_sync eq_sync ballot_sync match_any_sync
        match_all_sync activemask lanemask_lt
    """,
    "Memory in kernels": """
        shared local const atomic ldca ldcg ldcs ldlu ldcv stcg stcs stwb stwt
    """,
    "Bits and numbers": """
        popc brev clz ffs fma cbrt selp libdevice
    """,
    "Number types": """
        bool_ boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 bfloat16 complex64
        complex128 intp uintp void b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16 byte char uchar short ushort intc
        uintc int_ uint long_ ulong longlong ulonglong size_t ssize_t double none optional deferred_type ffi
        ffi_forced_object bool dim3 Dim3 alias
    """,
    "Short vectors": _VECTORS,
    "Decorators and compiling": """
        jit vectorize guvectorize reduce Reduce In Out InOut declare_device literal_unroll compile compile_all
        compile_for_current_device compile_ptx compile_ptx_for_current_device
    """,
    "Kernels": """
        Kernel.configure Kernel.forall Kernel.compile Kernel.specialize Kernel.specialized
        Kernel.specializations Kernel.recompile Kernel.overloads Kernel.signatures Kernel.nopython_signatures
        Kernel.stats Kernel.extensions Kernel.py_func Kernel.inspect_llvm Kernel.inspect_asm Kernel.inspect_sass
        Kernel.inspect_types Kernel.get_regs_per_thread Kernel.get_shared_mem_per_block
        Kernel.get_const_mem_size Kernel.get_local_mem_per_thread Kernel.get_max_threads_per_block
        Kernel.mark_launch_config_sensitive ConfiguredKernel.griddim ConfiguredKernel.blockdim
        ConfiguredKernel.stream ConfiguredKernel.sharedmem ConfiguredKernel.pre_launch_callbacks
        Overload.cooperative Overload.max_cooperative_grid_blocks Overload.regs_per_thread
        Overload.shared_mem_per_block Overload.const_mem_size Overload.local_mem_per_thread
        Overload.max_threads_per_block Overload.launch_config_sensitive
    """,
    "Arrays": """
        to_device device_array device_array_like as_cuda_array from_cuda_array_interface is_cuda_array pinned
        pinned_array pinned_array_like mapped mapped_array mapped_array_like managed_array defer_cleanup
        DeviceArray.copy_to_host DeviceArray.copy_to_device DeviceArray.T DeviceArray.transpose
        DeviceArray.reshape DeviceArray.ravel DeviceArray.view DeviceArray.squeeze DeviceArray.split
        DeviceArray.bind DeviceArray.flags DeviceArray.getitem DeviceArray.setitem DeviceArray.is_c_contiguous
        DeviceArray.is_f_contiguous DeviceArray.stream DeviceArray.gpu_data DeviceArray.alloc_size
        DeviceArray.device_ctypes_pointer DeviceArray.get_ipc_handle DeviceArray.as_cuda_arg
    """,
    "Devices": """
        gpus current_context get_current_device select_device list_devices is_available is_supported_version
        is_float16_supported is_bfloat16_supported is_fp8_supported cuda_error detect synchronize close
        MemoryInfo Device.name Device.id Device.compute_capability Device.reset Device.supports_float16
        Device.supports_bfloat16 Device.supports_fp8 Device.uuid Context.synchronize Context.get_memory_info
        Context.reset Context.push Context.pop Context.device Context.deallocations
        Context.memory_manager Context.memalloc Context.enable_peer_access
    """,
    "Streams and events": """
        stream default_stream legacy_default_stream per_thread_default_stream external_stream event
        event_elapsed_time profile_start profile_stop profiling Stream.synchronize Stream.auto_synchronize
        Stream.add_callback Stream.async_done Stream.handle Stream.external Event.record Event.synchronize
        Event.wait Event.query Event.elapsed_time
    """,
    "Code to link": """
        LinkableCode Archive CUSource Cubin Fatbin LTOIR Object PTXSource
    """,
    "Errors": """
        CudaSupportError KernelRuntimeError
    """,
    "NVIDIA's driver": """
        BaseCUDAMemoryManager HostOnlyCUDAMemoryManager GetIpcHandleMixin set_memory_manager MemoryPointer
        MappedMemory PinnedMemory IpcHandle open_ipc_array runtime nvvm
    """,
    "Modules": """
        api args cache_hints cgutils compiler config core cpython cudadrv datamodel debuginfo decorators
        descriptor devicearray devices dispatcher errors extending flags intrinsics itanium_mangler kernels
        launchconfig literal lowering memory_management misc models np serialize stubs types typeconv typing
        utils vectorizers random testing
    """,
    "Facts": """
        HAS_NUMBA implementation
    """,
    "Insides": """
        GridGroup grid_group api_util cext cloudpickle codegen config_default_cc cuda_paths device_init
        deviceufunc initialize locks mathimpl numba_cuda_default_ptx_cc nvvmutils prepare_shape_strides_dtype
        reduction require_context simulator ufuncs
    """,
}

_IPC = "memory is shared between processes by handles of NVIDIA's driver"
_DRIVER = "a call of NVIDIA's driver"
_INSIDES = "a part of numba-cuda's implementation"

#: Names that neither package has, with the reason; `cuda_api/driver_only.py` has those that raise an error.
NOT_OFFERED: dict[str, str] = {
    "bool": "write `bool_`; the name would hide Python's own",
    "alias": _INSIDES,
    "dim3": _INSIDES,
    "Dim3": _INSIDES,
    "nvvm": "a code generator of NVIDIA's; `numba.cuda.cudadrv.nvvm` exists, and refuses",
    "DeviceArray.get_ipc_handle": _IPC,
    "DeviceArray.as_cuda_arg": _INSIDES,
    "Device.uuid": "a number of NVIDIA's driver",
    "Context.memalloc": "`device_array` allocates",
    "Context.enable_peer_access": _DRIVER,
    **dict.fromkeys(NAMES["Insides"].split(), _INSIDES),
}

#: Names that are there, and how they differ.
DIFFERENCES: dict[str, str] = {
    "cg": "`this_grid().sync()` is refused for Metal, which has no barrier for a grid. A kernel that asks for its grid "
    "and never waits is launched as any other",
    "nanosleep": "a hint; does nothing on Metal",
    "float64": 'Metal has no float64: README.md, "Numbers on Metal", tells the ways out',
    "complex128": "as float64",
    "atomic": "64-bit integers are refused for Metal",
    **dict.fromkeys(
        "ldca ldcg ldcs ldlu ldcv stcg stcs stwb stwt".split(),
        "an ordinary access where the hardware has no such operators: on devices other than NVIDIA's, and in shared or "
        "local memory. Takes bool arrays too",
    ),
    "libdevice": "on devices other than NVIDIA's those with a counterpart in Python; others are refused where called",
    "jit": "numba.cuda's options are taken; those that only NVIDIA's tools understand change nothing. `cache=True` "
    "keeps kernels in one folder by content, not in `__pycache__`. IndexError is raised for indices out of range where "
    "the device checks them (the CPU device does unless `NUMBA_BOUNDSCHECK=0`). With `debug=True` functions of math "
    "raise ValueError outside of their domains, as in Python",
    "declare_device": "links PTX, CUDA C++ and machine code on NVIDIA's GPUs; elsewhere its callers are refused",
    **dict.fromkeys(
        "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device".split(),
        "in numba_ptxplus; numba_metal has `compile_msl`. A thread that throws only ends",
    ),
    "Kernel.stats": "lists of hits and of misses with their reasons; `cache_hits` and `cache_misses` count them, "
    "`cache_path` is the folder of all kernels",
    "Kernel.signatures": "argument types as records of ours, which print as Numba's",
    "Kernel.inspect_asm": "what the device is given: MSL, PTX or LLVM assembly",
    "Kernel.inspect_sass": "on NVIDIA's GPUs with nvdisasm",
    "mapped": "on GPUs that do not use host memory in place: copies, brought back at the end of the block",
    "managed_array": "on the CPU device and on Metal: host memory",
    "DeviceArray.copy_to_host": "copies views with negative strides too",
    "DeviceArray.T": "a copy for 2-D arrays, as in numba.cuda; a view for others",
    "DeviceArray.transpose": "as T",
    "is_available": "always true: without a GPU there is the CPU device",
    "cuda_error": "None",
    "Device.compute_capability": "(7, 5) on devices that are not NVIDIA's: the features that the language has",
    "Context.get_memory_info": "raises DeviceError where the device does not tell",
    "Context.deallocations": "always empty: memory is released with its array",
    "Context.memory_manager": "has `deallocations` and `get_memory_info`",
    "per_thread_default_stream": "the default stream",
    "legacy_default_stream": "the default stream",
    "external_stream": "takes a CUstream on NVIDIA's GPUs, elsewhere the `handle` of one of our streams",
    "profile_start": "nothing to start: profilers see kernels without being told",
    "profile_stop": "as profile_start",
    "KernelRuntimeError": "exists for `except`; kernels raise the exceptions that they name",
    "CudaSupportError": "exists for `except`; never raised",
    "LinkableCode": "describes code to link on NVIDIA's GPUs",
    "runtime": "answers `is_supported_version`; `get_version` raises, since no tool kit takes part",
    "implementation": '"numba-metal"',
    "cudadrv": "`numba.cuda.driver` is `cudadrv.driver` only",
}

_MESSAGE = "looks for Numba's long message; ours is one line, the long one is in `.original` and `.msg`"
_PYCACHE = "counts files in __pycache__; kernels are kept in one folder by content"
_BY_CONTENT = "expects a copy of a module to find nothing; kernels are found by content, so a copy finds them"
_GRID = "the kernel never waits for its grid, and is launched as any other, without a limit on its blocks"
_WORDS = "looks for Numba's words for types"
_PAST_END = "writes past the end of its array: IndexError on the CPU device, which checks unless NUMBA_BOUNDSCHECK=0"
_LOADER = "a function outside of a class, which unittest does not load"
_SKIPS = "skips itself: "
_XFAIL = "is expected to fail, and passes"
_WORKS = "expects an error where things work: "

#: Portable tests of numba-cuda 0.30.4 (tests/peer/portable.txt) that do not pass on the CPU device, with the reason.
TESTS_THAT_DO_NOT_PASS: dict[str, str] = {
    f"cudapy.{name}": reason
    for name, reason in {
        "test_alignment.TestAlignment.test_record_alignment_error": _WORKS + "fields of records that are not aligned",
        "test_array.TestCudaArray.test_array_like_2d_view_transpose_simulator": _SKIPS + "for the simulator",
        "test_array_alignment.TestCudasimUnsupportedAlignment.test_local_unsupported": _SKIPS + "for the simulator",
        "test_array_alignment.TestCudasimUnsupportedAlignment.test_shared_unsupported": _SKIPS + "for the simulator",
        "test_array_methods.TestCudaArrayMethods.test_array_copy": "makes a new array in a kernel; there is no heap",
        "test_caching.CUDAAndCPUCachingTest.test_cpu_and_cuda_reuse": "its child process imports numba.cuda.tests",
        "test_caching.CUDAAndCPUCachingTest.test_cpu_and_cuda_targets": _PYCACHE,
        "test_caching.CUDACachingTest.test_cache_reuse": _BY_CONTENT,
        "test_caching.CUDACachingTest.test_caching": _PYCACHE,
        "test_caching.CUDACachingTest.test_cannot_cache_captured_device_array": _WORKS + "it is compiled each time",
        "test_caching.CUDACachingTest.test_cannot_cache_global_device_array": _WORKS + "it is compiled each time",
        "test_caching.CUDACachingTest.test_closure": _PYCACHE,
        "test_caching.CUDACachingTest.test_many_locals": _PYCACHE,
        "test_caching.CUDACachingTest.test_non_creatable_pycache": _BY_CONTENT,
        "test_caching.CUDACachingTest.test_non_writable_pycache": _BY_CONTENT,
        "test_caching.CUDACachingTest.test_recompile": "expects that a changed global is not seen; it is",
        "test_caching.CUDACooperativeGroupTest.test_cache_cg": _PYCACHE,
        "test_caching.LaunchConfigInsensitiveCachingTest.test_launch_config_insensitive_cache_keys": _PYCACHE,
        "test_caching.LaunchConfigSensitiveCachingTest.test_launch_config_sensitive_cache_keys": _PYCACHE,
        "test_caching.MultiDeviceCachingTest.test_cache_separate_per_compute_capability": _SKIPS + "needs two GPUs",
        "test_cooperative_groups.TestCudaCooperativeGroups.test_this_grid_is_cooperative": _GRID,
        "test_cuda_array_interface.TestCudaArrayInterface.test_negative_strided_copy_to_host": _WORKS
        + "negative strides are copied",
        "test_dispatcher.TestDispatcher.test_explicit_signatures_ambiguous_resolution": _WORDS,
        "test_errors.TestJitErrors.test_typing_error": _MESSAGE,
        "test_exception.TestException.test_exception": "expects that an index out of range is not seen; the CPU device "
        "checks unless NUMBA_BOUNDSCHECK=0",
        "test_exception.TestException.test_raise_in_device_function": _XFAIL,
        "test_extending..test_overload_array_return": _LOADER,
        "test_extending.TestLowLevelExtending.test_func1_isolated": "runs in a child process, which has not the suite",
        "test_flow_control.TestFlowControl.test_for_loop8": _XFAIL,
        "test_flow_control.TestFlowControl.test_for_loop8_npm": _XFAIL,
        "test_localmem.TestCudaLocalMem.test_struct_model_type_arr": _PAST_END,
        "test_matmul..test_cuda_matmul": _LOADER,
        "test_multigpu.TestMultiGPUContext.test_multigpu_context": _SKIPS + "needs two GPUs",
        "test_multigpu.TestMultiGPUContext.test_with_context": _SKIPS + "needs two GPUs",
        "test_print.TestPrint.test_too_many_args": "expects that 33 numbers are too many for a line; they are printed",
        "test_recursion.TestSelfRecursion.test_optional_return": _SKIPS + "numba-cuda lacks it",
        "test_recursion.TestSelfRecursion.test_type_change": _SKIPS + "numba-cuda lacks it",
        "test_sm_creation.TestSharedMemoryCreation.test_global_build_list": _MESSAGE,
        "test_sm_creation.TestSharedMemoryCreation.test_invalid_1": _MESSAGE,
        "test_sm_creation.TestSharedMemoryCreation.test_invalid_2": _MESSAGE,
        "test_sm_creation.TestSharedMemoryCreation.test_invalid_3": _MESSAGE,
        "test_sm_creation.TestSharedMemoryCreation.test_invalid_4": _MESSAGE,
    }.items()
}
