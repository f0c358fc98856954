"""Prices of European options by the formula of Black and Scholes; a device function gives the normal distribution."""

from __future__ import annotations

import math

import numpy as np

import common
import numba_ptxplus as cuda

THREADS = 256
RATE, VOLATILITY = np.float32(0.02), np.float32(0.30)
ONE, HALF = np.float32(1), np.float32(0.5)
SQRT_HALF = np.float32(math.sqrt(0.5))


@cuda.jit(device=True)
def normal_cdf(x):
    return HALF * math.erfc(-x * SQRT_HALF)


@cuda.jit
def price_options(spots, strikes, years, calls, puts):
    """All arrays are float32, shape (n,)."""
    i = cuda.grid(1)
    if i >= spots.size:
        return
    spot, strike, time = spots[i], strikes[i], years[i]
    spread = VOLATILITY * math.sqrt(time)
    d1 = (math.log(spot / strike) + (RATE + HALF * VOLATILITY * VOLATILITY) * time) / spread
    d2 = d1 - spread
    discounted = strike * math.exp(-RATE * time)
    calls[i] = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    puts[i] = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)


def price_options_with_numpy(
    spots: np.ndarray, strikes: np.ndarray, years: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Calls and puts in float64."""
    normal = np.vectorize(lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5)))
    spot, strike, time = (array.astype(np.float64) for array in (spots, strikes, years))
    rate, volatility = float(RATE), float(VOLATILITY)
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * time)
    return spot * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - spot * normal(-d1)


def main() -> None:
    options = common.parse_options(__doc__, 100_000, "number of options")
    random = np.random.default_rng(3)
    spots, strikes, years = (
        random.uniform(low, high, options.size).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))
    )
    calls, puts = np.zeros_like(spots), np.zeros_like(spots)

    def launch() -> None:
        price_options[-(-options.size // THREADS), THREADS](spots, strikes, years, calls, puts)

    times = common.time_two_launches(launch)
    expected_calls, expected_puts = price_options_with_numpy(spots, strikes, years)
    # Prices are differences of terms up to 100; float32 resolves 100 to 8e-6.
    checks = [
        common.Check("calls", calls, expected_calls, 1e-4),
        common.Check("puts", puts, expected_puts, 1e-4),
    ]
    common.report("black_scholes", cuda.current_device(), times, checks)


if __name__ == "__main__":
    main()
