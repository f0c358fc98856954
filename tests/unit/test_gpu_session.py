"""The script for real GPUs, tried on the CPU device with small sizes, so that it works on the day there is a GPU."""

from __future__ import annotations

import pytest

import numba_ptxplus
from tests import gpu_session, gpu_workloads


#: Half of the kernels are plain numba.cuda code, whose literals are float64 on purpose.
@pytest.mark.filterwarnings("ignore:kernel .* has no float64 data:numba.core.errors.NumbaPerformanceWarning")
def test_kernels_agree_with_numpy(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu_workloads, "N_ITEMS", 1 << 12)
    monkeypatch.setattr(gpu_workloads, "SIDE", 48)
    monkeypatch.setattr(gpu_workloads, "MATRIX", 32)
    timed = []
    report = gpu_session.run_benchmark(numba_ptxplus, lambda launch: timed.append(launch()) or 1.5, tmp_path / "ours")
    comparison = gpu_session.compare(tmp_path)
    assert len(report) == len(timed) == len(comparison) == 16
    assert all(row["kernel_ms"] == 1.5 and row["first_launch_ms"] > 0 for row in report.values())
    parts = {part: {} for part in gpu_session.PARTS}
    assert gpu_session.find_faults({**parts, "comparison": comparison}) == []
    assert all(row["from_numpy"] is not None and row["from_numba_cuda"] is None for row in comparison.values())


def test_faults_are_named():
    report = {
        "catalogue": {"failed": {"barrier": "…"}},
        "ours": {"error": "exited 1"},
        "numba-cuda": {},
        "comparison": {"saxpy, plain": {"from_numpy": 0.5, "from_numba_cuda": None, "tolerance": 1e-7}},
    }
    assert gpu_session.find_faults(report) == [
        "ours: exited 1",
        "catalogue: barrier failed",
        "saxpy, plain: differs from NumPy by 0.5, allowed is 1e-07",
    ]
