"""Functions of complex numbers that Numba leaves to C. Before: lower.power, ufuncs. After: compiled for the device.

Only the parts of the arguments enter, so that complex64 is computed in float32.
"""

import cmath
import math

from numba.extending import register_jitable


@register_jitable
def divide(z, w):
    """z / w by Smith's algorithm, as CPython (Objects/complexobject.c, _Py_c_quot); w == 0 gives infinities and NaN, as
    in NumPy."""
    if abs(w.real) >= abs(w.imag):
        if w.real == 0:
            return complex(z.real / abs(w.real), z.imag / abs(w.imag))
        ratio = w.imag / w.real
        scale = w.real + w.imag * ratio
        return complex((z.real + z.imag * ratio) / scale, (z.imag - z.real * ratio) / scale)
    if abs(w.imag) >= abs(w.real):
        ratio = w.real / w.imag
        scale = w.real * ratio + w.imag
        return complex((z.real * ratio + z.imag) / scale, (z.imag * ratio - z.real) / scale)
    nan = w.real + w.imag
    return complex(nan, nan)


def divide_or_raise(z, w):
    """The same, with Python's error for what divides by zero."""
    if w.real == 0 and w.imag == 0:
        raise ZeroDivisionError("complex division by zero")
    return divide(z, w)


def power(z, w, one, nan):
    """z**w by NumPy's rules: small whole exponents multiply, 0**w is 0 for w.real > 0 and NaN for the others but 0.

    `one` and `nan` are those numbers in the type of `z` and of its parts.
    """
    if w.real == 0 and w.imag == 0:
        return one
    if z.real == 0 and z.imag == 0:
        return z if w.real > 0 else complex(nan, nan)
    if w.imag == 0 and abs(w.real) < 100 and math.floor(w.real) == w.real:
        return _whole_power(z, int(w.real), one)
    modulus, angle = math.hypot(z.real, z.imag), math.atan2(z.imag, z.real)
    length = math.pow(modulus, w.real)
    turn = angle * w.real
    if w.imag != 0:
        length *= math.exp(-angle * w.imag)
        turn += w.imag * math.log(modulus)
    return complex(length * math.cos(turn), length * math.sin(turn))


@register_jitable
def _whole_power(z, exponent, one):
    result = one
    left = abs(exponent)
    while left > 0:
        if left & 1:
            result = result * z
        left >>= 1
        if left > 0:
            z = z * z
    return one / result if exponent < 0 else result


def exp2(z):
    """2**z"""
    factor = math.exp2(z.real)
    angle = z.imag * math.log(2.0)
    return complex(factor * math.cos(angle), factor * math.sin(angle))


def expm1(z):
    """exp(z) - 1, accurate near 0"""
    half = math.sin(z.imag * 0.5)
    real = math.expm1(z.real) * math.cos(z.imag) - (half + half) * half
    return complex(real, math.exp(z.real) * math.sin(z.imag))


def log1p(z):
    """log(1 + z), accurate near 0, where 1 + z would lose the digits of z."""
    if abs(z.real) < 0.5 and abs(z.imag) < 0.5:
        real = math.log1p(z.real * (z.real + 2) + z.imag * z.imag) * 0.5
    else:
        real = math.log(math.hypot(z.real + 1, z.imag))
    return complex(real, math.atan2(z.imag, z.real + 1))


def log2(z):
    """log(z) / log(2)"""
    whole = cmath.log(z)
    scale = math.log(2.0)
    return complex(whole.real / scale, whole.imag / scale)
