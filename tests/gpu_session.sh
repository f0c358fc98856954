#!/usr/bin/env bash
# Try everything on a real NVIDIA GPU, in at most six minutes:
#
#     tests/gpu_session.sh [OUT.json]
#
# Needs a GPU with its driver, and a Python (PYTHON, else python3) with numba, llvmlite and cuda-bindings or cuda-python.
# Runs the device catalogue on the GPU, then the kernels of benchmarks/ptx_kernels.py with ours and with numba-cuda, and
# writes results, kernel times by events and first-launch times as JSON. Exit status 1 if a result is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out/gpu_session.json}
mkdir -p "$(dirname "$out")"
exec timeout 360 "${PYTHON:-python3}" -m tests.gpu_session "$out"
