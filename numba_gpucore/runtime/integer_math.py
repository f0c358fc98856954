"""Functions of integers. Before: lower.math. After: Numba compiles them for the device."""


def gcd(a, b):
    """Greatest common divisor, never negative (Euclid)."""
    while b != 0:
        a, b = b, a % b
    return abs(a)
