#!/usr/bin/env python3
# dl16_model.py - An independent model of the device's number formats
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Written from the definitions of the formats with exact integers (a number is
# counted in units of 2^-1200) and nothing but the standard library; it shares no code and no method with
# lib/Numerics. A format is the list of its (value, code) pairs, rounding is a
# search among them. Writes a binary file that NumericsTest reads:
#
#   magic "SPYRENUM", then sections: name (16 bytes, zero padded), count (u64),
#   element size (u64), payload, all little-endian.
"""Write the tables against which the number formats are tested."""

import bisect
import math
import struct
import sys

INF = float("inf")
NAN = float("nan")
# Every finite double is a whole number of these.
UNITS_IN_ONE = 1 << 1200


def power_of_two(exponent):
    return 1 << (1200 + exponent)


def exact(value):
    """A finite double in units."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * (UNITS_IN_ONE // denominator)


def as_float(units):
    """The double of that many units, which must exist."""
    sign = -1.0 if units < 0 else 1.0
    magnitude = abs(units)
    shift = max(magnitude.bit_length() - 60, 0)
    value = sign * math.ldexp(float(magnitude >> shift), shift - 1200)
    assert exact(value) == units
    return value


class Format:
    """All values of a format, in order, and rounding to the nearest of them."""

    def __init__(self, width, decode):
        self.width = width
        self.decode = decode
        half = 1 << (width - 1)
        self.sign_bit = half
        pairs = [(value, code) for code in range(half) if isinstance(value := decode(code), int)]
        assert pairs == sorted(pairs), "codes of one sign rise with their values"
        self.values = [value for value, _ in pairs]
        self.codes = [code for _, code in pairs]

    def round_magnitude(self, magnitude):
        """Index of the nearest value; len(values) if it rounds past the largest.

        The step after the largest finite value decides what still rounds to it:
        the binade goes on.
        """
        i = bisect.bisect_left(self.values, magnitude)
        if i < len(self.values) and self.values[i] == magnitude:
            return i
        if i == len(self.values):
            step = self.values[-1] - self.values[-2]
            above = self.values[-1] + step
        else:
            above = self.values[i]
        below = self.values[i - 1]
        middle = (below + above) // 2
        if magnitude != middle:
            return i if magnitude > middle else i - 1
        return i - 1 if self.codes[i - 1] % 2 == 0 else i


def dl16(code):
    """sign 1, exponent 6, fraction 9; 0 is zero, all ones infinity or NaN."""
    sign = -1 if code & 0x8000 else 1
    exponent, fraction = (code >> 9) & 63, code & 511
    if exponent == 63 and fraction == 511:
        return sign * INF
    if exponent == 0 and fraction == 0:
        return 0
    return sign * power_of_two(exponent - 31) * (512 + fraction) // 512


def ieee_like(exponent_bits, fraction_bits, bias, specials):
    def decode(code):
        sign_bit = 1 << (exponent_bits + fraction_bits)
        sign = -1 if code & sign_bit else 1
        exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1)
        fraction = code & ((1 << fraction_bits) - 1)
        top = exponent == (1 << exponent_bits) - 1
        if specials == "ieee" and top:
            return sign * INF if fraction == 0 else NAN
        if specials == "one_nan" and top and fraction == (1 << fraction_bits) - 1:
            return NAN
        if specials == "neg_zero" and code == sign_bit:
            return NAN
        if exponent == 0:
            return sign * fraction * power_of_two(1 - bias - fraction_bits)
        return sign * ((1 << fraction_bits) + fraction) * power_of_two(exponent - bias - fraction_bits)

    return decode


DL16 = Format(16, dl16)
F16 = Format(16, ieee_like(5, 10, 15, "ieee"))
BF16 = Format(16, ieee_like(8, 7, 127, "ieee"))
E4M3 = Format(8, ieee_like(4, 3, 7, "one_nan"))
E5M2 = Format(8, ieee_like(5, 2, 15, "ieee"))
E4M3FNUZ = Format(8, ieee_like(4, 3, 8, "neg_zero"))
E5M2FNUZ = Format(8, ieee_like(5, 2, 16, "neg_zero"))


def is_negative(code, fmt):
    return bool(code & fmt.sign_bit)


def to_dl16(value, negative, saturate):
    """Contract: nearest, ties to the even code; sign kept; NaN is +infinity."""
    if isinstance(value, float):
        if value != value:
            return 0x7FFF
        return 0xFFFF if negative else 0x7FFF
    i = DL16.round_magnitude(abs(value))
    if i == len(DL16.values):
        code = 0x7FFE if saturate else 0x7FFF
    else:
        code = DL16.codes[i]
    return code | (0x8000 if negative else 0)


def from_dl16_to_f16(code):
    value = dl16(code)
    sign = code & 0x8000
    if isinstance(value, float):
        return sign | 0x7C00
    if abs(value) == 65536 * UNITS_IN_ONE:  # what 65504 became on its way in
        return sign | 0x7BFF
    i = F16.round_magnitude(abs(value))
    return sign | (0x7C00 if i == len(F16.values) else F16.codes[i])


def from_dl16_to_bf16(code):
    value = dl16(code)
    sign = code & 0x8000
    if isinstance(value, float):
        return sign | 0x7F80
    return sign | BF16.codes[BF16.round_magnitude(abs(value))]


def from_dl16_to_fp8(code, fmt, infinity):
    """Narrowing on the device: finite values saturate."""
    value = dl16(code)
    sign = (code & 0x8000) >> 8
    if isinstance(value, float):
        return infinity | (sign if infinity != 0x7F else 0)
    i = fmt.round_magnitude(abs(value))
    return sign | fmt.codes[min(i, len(fmt.codes) - 1)]


def double_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def rounding_cases():
    """Doubles around every code and every midpoint, of both signs."""
    magnitudes = set()
    tops = DL16.values + [DL16.values[-1] * 2 - DL16.values[-2]]
    for low, high in zip(tops, tops[1:]):
        for point in (low, (low + high) // 2):
            bits = double_bits(as_float(point))
            magnitudes.update({bits, bits + 1, max(bits - 1, 0)})
    for extra in (8573157376.0, 8589934591.0, 8589934592.0, 1e30, 1e300, 5e-324, 1e-300, 2.0**-31, 2.0**-32, 2.0**-33):
        magnitudes.add(double_bits(extra))
    for bits in sorted(magnitudes):
        value = exact(struct.unpack("<d", struct.pack("<Q", bits))[0])
        i = DL16.round_magnitude(value)
        over = i == len(DL16.values)
        yield bits, 0x7FFF if over else DL16.codes[i], 0x7FFE if over else DL16.codes[i]


def decode_section(fmt, bits):
    """Bits of each code's value as f32; NaN is the canonical quiet one."""
    payload = []
    for code in range(1 << bits):
        value = fmt.decode(code)
        if isinstance(value, float):
            payload.append(0x7FC00000 if value != value else float_bits(value))
        elif value == 0:
            payload.append(0x80000000 if is_negative(code, fmt) else 0)
        else:
            payload.append(float_bits(as_float(value)))
    return payload


def main():
    sections = {}
    for name, fmt, bits in (
        ("dl16", DL16, 16),
        ("f16", F16, 16),
        ("bf16", BF16, 16),
        ("e4m3fn", E4M3, 8),
        ("e5m2", E5M2, 8),
        ("e4m3fnuz", E4M3FNUZ, 8),
        ("e5m2fnuz", E5M2FNUZ, 8),
    ):
        sections[f"decode.{name}"] = ("<I", decode_section(fmt, bits))
    every = range(65536)
    sections["f16->dl16"] = ("<H", [to_dl16(F16.decode(c), is_negative(c, F16), True) for c in every])
    sections["bf16->dl16"] = ("<H", [to_dl16(BF16.decode(c), is_negative(c, BF16), True) for c in every])
    sections["dl16->f16"] = ("<H", [from_dl16_to_f16(c) for c in every])
    sections["dl16->bf16"] = ("<H", [from_dl16_to_bf16(c) for c in every])
    sections["dl16->e4m3fn"] = ("<B", [from_dl16_to_fp8(c, E4M3, 0x7F) for c in every])
    sections["dl16->e5m2"] = ("<B", [from_dl16_to_fp8(c, E5M2, 0x7C) for c in every])
    cases = list(rounding_cases())
    sections["round.bits"] = ("<Q", [c[0] for c in cases])
    sections["round.arith"] = ("<H", [c[1] for c in cases])
    sections["round.copy"] = ("<H", [c[2] for c in cases])

    with open(sys.argv[1], "wb") as file:
        file.write(b"SPYRENUM")
        for name, (element, payload) in sections.items():
            file.write(name.encode().ljust(16, b"\0"))
            file.write(struct.pack("<QQ", len(payload), struct.calcsize(element)))
            file.write(b"".join(struct.pack(element, value) for value in payload))


if __name__ == "__main__":
    main()
