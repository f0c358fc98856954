"""What the examples share: a photograph, two timed launches, the comparison with NumPy, pictures in out/."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.cbook
import numpy as np
from PIL import Image

OUT = Path(__file__).resolve().parent.parent / "out"


@dataclass(frozen=True)
class Options:
    size: int
    out: Path


@dataclass(frozen=True)
class Check:
    """`got` must equal `expected` up to `tolerance`, an absolute error."""

    what: str
    got: np.ndarray
    expected: np.ndarray
    tolerance: float = 0.0

    @property
    def error(self) -> float:
        """Largest absolute difference; NaN anywhere gives NaN."""
        return float(np.max(np.abs(self.got.astype(np.float64) - self.expected.astype(np.float64))))

    @property
    def holds(self) -> bool:
        return self.got.shape == self.expected.shape and self.error <= self.tolerance

    def __str__(self) -> str:
        if self.got.shape != self.expected.shape:
            return f"{self.what} WRONG: shape {self.got.shape}, NumPy has {self.expected.shape}"
        limit = "exact" if self.tolerance == 0 else f"limit {self.tolerance:g}"
        return f"{self.what} {'right' if self.holds else 'WRONG'} (largest error {self.error:.2g}, {limit})"


def parse_options(description: str, size: int, size_means: str) -> Options:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--size", type=int, default=size, help=f"{size_means} (default {size})")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder for pictures (default {OUT})")
    arguments = parser.parse_args()
    return Options(arguments.size, arguments.out)


def load_photograph(height: int) -> np.ndarray:
    """Matplotlib's portrait of Grace Hopper in grey: float32 from 0 to 1, shape (height, width)."""
    path = matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    with open(path, "rb") as file:
        photograph = Image.open(file).convert("L")
    width = round(photograph.width * height / photograph.height)
    return np.asarray(photograph.resize((width, height)), np.float32) / np.float32(255)


def count_blocks(shape: tuple[int, ...], threads: tuple[int, ...]) -> tuple[int, ...]:
    """Blocks that cover an array: x runs along the last axis, as in `column, row = grid(2)`."""
    return tuple(-(-extent // count) for extent, count in zip(reversed(shape), threads, strict=True))


def time_two_launches(launch: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of a first call, which compiles, and of a second."""
    start = time.perf_counter()
    launch()
    middle = time.perf_counter()
    launch()
    return middle - start, time.perf_counter() - middle


def report(name: str, device: Any, times: tuple[float, float], checks: list[Check]) -> None:
    """Print one line a fact. Raises SystemExit if a check fails."""
    first_s, second_s = times
    print(f"{name}")
    print(f"  device         {device.kind} ({device.name})")
    for check in checks:
        print(f"  against NumPy  {check}")
    print(f"  first launch   {first_s * 1e3:.1f} ms")
    print(f"  second launch  {second_s * 1e3:.2f} ms")
    if not all(check.holds for check in checks):
        raise SystemExit(f"{name}: the device disagrees with NumPy")


def save_picture(pixels: np.ndarray, path: Path) -> None:
    """Write uint8 pixels, shape (height, width) or (height, width, 3), as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    print(f"  picture        {path}")


def to_grey(values: np.ndarray) -> np.ndarray:
    """uint8 pixels of values from 0 (black) to 1 (white)."""
    return np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)


def to_colour(values: np.ndarray, colour_map: str) -> np.ndarray:
    """uint8 RGB pixels of values from 0 to 1 in one of Matplotlib's colour maps."""
    return matplotlib.colormaps[colour_map](np.clip(values, 0, 1), bytes=True)[..., :3]
