"""DLPack capsules of device memory. Before: exchange. After: packages that call `from_dlpack`.

Structures and numbers are those of dlpack.h (DLPack 1.0); NumPy makes the capsules of host memory.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from numba_gpucore.base.backend import Device

#: DLDeviceType. Metal's counterpart holds objects, not addresses.
_CPU, _CUDA = 1, 2
#: NumPy's kind → DLDataTypeCode.
_TYPE_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_CAPSULE_NAME = b"dltensor"


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", _DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter)]


def device_of(device: Device) -> tuple[int, int]:
    """(DLDeviceType, number). Raises BufferError."""
    if device.uses_host_memory:
        return _CPU, 0
    if device.kind != "cuda":
        raise BufferError(f"DLPack has no addresses of {device.kind} memory; use copy_to_host()")
    return _CUDA, device.index


def make_capsule(
    owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], device: Device
) -> Any:
    """A capsule named "dltensor" of an array at `address`; strides in bytes. Keeps `owner` alive until its consumer is
    done, or until it is collected unconsumed. Raises BufferError for elements that DLPack cannot name."""
    if dtype.kind not in _TYPE_CODES or any(stride % dtype.itemsize for stride in strides):
        raise BufferError(f"DLPack cannot describe elements of {dtype} with strides {strides}")
    extents = (ctypes.c_int64 * len(shape))(*shape)
    steps = (ctypes.c_int64 * len(shape))(*(stride // dtype.itemsize for stride in strides))
    managed = _DLManagedTensor(
        _DLTensor(
            address,
            _DLDevice(*device_of(device)),
            len(shape),
            _DLDataType(_TYPE_CODES[dtype.kind], 8 * dtype.itemsize, 1),
            ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64)),
            ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)),
            0,
        ),
        None,
        _release,
    )
    # The consumer owns the structure: it lives until its deleter is called, as the one reference to all of this.
    keeper = ctypes.py_object((owner, managed, extents, steps))
    managed.manager_ctx = id(keeper.value)
    ctypes.pythonapi.Py_IncRef(keeper)
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new_capsule(ctypes.addressof(managed), _CAPSULE_NAME, ctypes.cast(_drop_capsule, ctypes.c_void_p))


def _let_go(managed_address: int) -> None:
    """DLManagedTensor.deleter: let go of what `make_capsule` kept."""
    managed = _DLManagedTensor.from_address(managed_address)
    keeper = ctypes.cast(managed.manager_ctx, ctypes.py_object)
    ctypes.pythonapi.Py_DecRef(keeper)


def _drop(capsule: int) -> None:
    """Destructor of a capsule: releases it unless a consumer has taken and renamed it."""
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    if is_valid(capsule, _CAPSULE_NAME):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
        _let_go(pointer(capsule, _CAPSULE_NAME))


#: The same as C functions.
_release = _Deleter(_let_go)
_drop_capsule = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop)
