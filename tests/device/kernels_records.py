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


ODD_PLACES = np.dtype(
    [("u", np.uint8), ("v", np.int64), ("b", np.float32, (3,)), ("z", np.complex64), ("h", np.float16, (2, 2))]
)


def packed_fields(records, out):
    """Numbers and arrays at odd addresses: GPUs fault on plain loads of them."""
    i = gpu.grid(1)
    record = records[i]
    out[0, i] = records["v"][i] + records.v[i] + record.v
    out[1, i] = record.b[1] + record["b"][2] + records[i].b[:2][1] + records["b"][i, 0] + records.b[i][2]
    out[2, i] = record.z.real + records["z"][i].imag + records.z[i].real
    out[3, i] = record.h[1, 0] + record.h[0][1]
    record.b[0] = 5
    record["h"][1, 1] = 7
    records["v"][i] = 9
    records.z[i] = 3
    record.b[1:] = record.b[:2]


def make_packed_fields(rng):
    records = np.zeros(4, ODD_PLACES)
    records["v"] = rng.integers(0, 1000, 4)
    records["b"], records["h"] = rng.integers(0, 9, (4, 3)), rng.integers(0, 9, (4, 2, 2))
    records["z"] = [1 + 2j, 3 - 1j, 0, 4j]
    return records, np.zeros((4, 4), np.float32)


def expect_packed_fields(records, out):
    b, z, h = records["b"], records["z"], records["h"]
    rows = [3 * records["v"], 2 * b[:, 1] + 2 * b[:, 2] + b[:, 0], 2 * z.real + z.imag, h[:, 1, 0] + h[:, 0, 1]]
    wanted = records.copy()
    wanted["b"] = np.stack([np.full(4, 5), np.full(4, 5), b[:, 1]], axis=1)
    wanted["h"][:, 1, 1], wanted["v"], wanted["z"] = 7, 9, 3
    return {0: wanted, 1: np.stack(rows)}


CASES = (
    Case(records, make_records, expect_records),
    Case(strided_records, make_strided_records, expect_strided_records),
    Case(packed_records, make_packed_records, expect_packed_records, block=16),
    Case(packed_fields, make_packed_fields, expect_packed_fields, block=4),
)
