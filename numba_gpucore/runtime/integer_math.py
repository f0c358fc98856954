"""Functions of integers. Before: lower.math, lower.power. After: Numba compiles them for the device."""

from numba.extending import register_jitable


@register_jitable
def gcd(a, b):
    """Greatest common divisor, never negative (Euclid)."""
    while b != 0:
        a, b = b, a % b
    return abs(a)


def lcm(a, b):
    """Least common multiple, wrapping around; of 0 and any number 0."""
    divisor = gcd(a, b)
    return abs(a) // divisor * abs(b)


@register_jitable
def power(a, b, one, of_zero):
    """a ** b by squaring, wrapping around. For negative b what truncation leaves of the fraction: 1 and -1 for those
    bases, else 0, and `of_zero` for 0. `one` and `of_zero` are of the result's type."""
    if b < 0:
        if a == 0:
            return of_zero
        if a == 1 or a == -1:
            return a if b & 1 else one
        return one - one
    result = one
    while b != 0:
        if b & 1:
            result *= a
        b >>= 1
        a *= a
    return result


def power_or_raise(a, b, one, of_zero):
    """The same, with Python's error for what divides by zero."""
    if b < 0 and a == 0:
        raise ZeroDivisionError("0 cannot be raised to a negative power")
    return power(a, b, one, of_zero)
