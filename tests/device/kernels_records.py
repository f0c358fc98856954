"""Arrays of records in kernels: fields read and written, strides, records without padding."""

from __future__ import annotations

import numpy as np

from numba_gpucore import language as gpu
from tests.device.catalogue import Case

ITEM = np.dtype([("x", np.float32), ("n", np.int32), ("ok", np.bool_)], align=True)
PACKED = np.dtype([("a", np.int8), ("b", np.float32), ("c", np.int16)])


def records(items, total):
    i = gpu.grid(1)
    if i < items.shape[0]:
        items[i].x = items[i].x * 2
        items[i]["n"] += i
        items[i].ok = items[i].n > 10
        gpu.atomic.add(total, 0, items[i].n)


def make_records(rng):
    items = np.zeros(20, ITEM)
    items["x"] = rng.random(20)
    items["n"] = rng.integers(0, 9, 20)
    return items, np.zeros(1, np.int32)


def expect_records(items, total):
    wanted = items.copy()
    wanted["x"] *= 2
    wanted["n"] += np.arange(20)
    wanted["ok"] = wanted["n"] > 10
    return {0: wanted, 1: np.array([wanted["n"].sum()])}


def strided_records(items, ids):
    view = items[1::2]
    i = gpu.grid(1)
    if i < view.shape[0]:
        ids[i] = view[i].n
        view[i].x = 100 + i


def make_strided_records(_rng):
    items = np.zeros(9, ITEM)
    items["n"] = np.arange(9) * 3
    return items, np.zeros(4, np.int32)


def expect_strided_records(items, ids):
    wanted = items.copy()
    wanted["x"][1::2] = 100 + np.arange(4)
    return {0: wanted, 1: items["n"][1::2]}


def packed_records(items, out):
    i = gpu.grid(1)
    out[i] = items[i].a + items[i].b + items[i].c
    items[i].b = -items[i].b


def make_packed_records(rng):
    items = np.zeros(16, PACKED)
    items["a"], items["b"], items["c"] = rng.integers(0, 99, (3, 16))
    return items, np.zeros(16, np.float32)


def expect_packed_records(items, out):
    wanted = items.copy()
    wanted["b"] *= -1
    return {0: wanted, 1: items["a"] + items["b"] + items["c"]}


CASES = (
    Case(records, make_records, expect_records),
    Case(strided_records, make_strided_records, expect_strided_records),
    Case(packed_records, make_packed_records, expect_packed_records, block=16),
)
