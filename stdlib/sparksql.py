"""The functions that sparksql.dl declares `extern`."""

from __future__ import annotations

import base64 as base64s
import hashlib
import math
import re
import zlib
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from ..engine.memory import reserve
from ..values import Fault, Struct, Vec, canonical_float
from . import sqlvalues
from .options import NONE, some
from .regex import searched
from .sparkmoments import *  # noqa: F403
from .sqlregexps import group_of, replaced_by
from .sqlvalues import LONG
from .sqlzones import to_utc as to_utc

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_SUFFIXED = re.compile(r"([0-9.])[dDfF]\Z")
_MASK = (1 << 64) - 1

# ---------------------------------------------------------------------- numbers


def quotient(a: int, b: int) -> int:
    if not b:
        raise Fault("division by zero")
    whole = (2 * abs(a) + abs(b)) // (2 * abs(b))
    return whole if (a < 0) == (b < 0) else -whole


def ratio(a: float, b: float) -> float:
    if b == 0:
        raise Fault("division by zero")
    return canonical_float(a / b)


def _rounded(a: float, places: int, way: str) -> float:
    if not math.isfinite(a):
        return a
    exact = Decimal(repr(a)).scaleb(places, LONG).quantize(Decimal(1), way, LONG)
    return canonical_float(float(exact.scaleb(-places, LONG)))


def round_up(a: float, places: int) -> float:
    return _rounded(a, places, ROUND_HALF_UP)


def round_even(a: float, places: int) -> float:
    return _rounded(a, places, ROUND_HALF_EVEN)


def rounded_even(a: int, b: int) -> int:
    whole, rest = divmod(a, b)
    return whole + (2 * rest > b or (2 * rest == b and whole % 2))


def units_of_double(a: float, places: int) -> int:
    if not math.isfinite(a):
        raise Fault(f"{double_text(a)} is no exact number")
    return int(Decimal(repr(a)).scaleb(places, LONG).quantize(Decimal(1), ROUND_HALF_UP, LONG))


def double_text(a: float) -> str:
    if math.isnan(a):
        return "NaN"
    if math.isinf(a):
        return "Infinity" if a > 0 else "-Infinity"
    if a == 0 or 1e-3 <= abs(a) < 1e7:
        return f"{Decimal(repr(a)):f}" if "e" in repr(a) else repr(a)
    sign, digits, exponent = Decimal(repr(a)).normalize().as_tuple()
    first, rest = digits[0], "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{first}.{rest}E{int(exponent) + len(digits) - 1}"


def factorial(n: int) -> Struct:
    return some(math.factorial(n)) if 0 <= n <= 20 else NONE


def shifted(a: int, by: int) -> int:
    reserve(max(by, 0) // 8)
    return a << by if by >= 0 else a >> -by


def read_integer(text: str) -> Struct:
    found = _WHOLE.fullmatch(text.strip())
    return NONE if found is None else some(int(found.group()))


def read_decimal(text: str, places: int) -> Struct:
    return NONE if "_" in text else sqlvalues.read_decimal(text, places)


def read_double(text: str) -> Struct:
    return NONE if "_" in text else sqlvalues.read_double(_SUFFIXED.sub(r"\1", text.strip()))


def binary(a: int) -> str:
    return f"{a & _MASK:b}"


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def converted(text: str, from_: int, to: int) -> Struct:
    if not (2 <= from_ <= 36 and 2 <= abs(to) <= 36):
        return NONE
    found = re.match(r"-?", text.strip())
    negative, number = bool(found and found.group()), 0
    for letter in text.strip().lstrip("-").upper():
        digit = _DIGITS.find(letter)
        if not 0 <= digit < from_:
            break
        number = min(number * from_ + digit, _MASK)
    if negative:
        number = -number & _MASK
    sign = ""
    if to < 0 and number >> 63:
        sign, number = "-", _MASK + 1 - number
    made = ""
    while number or not made:
        number, digit = divmod(number, abs(to))
        made = _DIGITS[digit] + made
    return some(sign + made)


def format_number(a: float, places: int) -> str:
    exact = Decimal(repr(a)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN, LONG)
    return f"{exact:,.{places}f}"


# ------------------------------------------------------------------------ texts


def initcap(text: str) -> str:
    return " ".join(each[:1].upper() + each[1:].lower() for each in text.split(" "))


def substring_index(text: str, by: str, count: int) -> str:
    if not by or not count:
        return ""
    parts = text.split(by)
    return by.join(parts[:count] if count > 0 else parts[max(len(parts) + count, 0) :])


def locate(part: str, text: str, from_: int) -> int:
    return text.find(part, from_ - 1) + 1 if from_ > 0 else 0


def overlay(text: str, by: str, at: int, count: int) -> str:
    length = len(by) if count < 0 else count
    return text[: max(at - 1, 0)] + by + text[max(at - 1 + length, 0) :]


def find_in_set(part: str, parts: str) -> int:
    found = parts.split(",")
    return found.index(part) + 1 if "," not in part and part in found else 0


_SOUNDS = {
    letter: str(number)
    for number, letters in enumerate(("BFPV", "CGJKQSXZ", "DT", "L", "MN", "R"), 1)
    for letter in letters
}


def soundex(text: str) -> str:
    if not text[:1].isascii() or not text[:1].isalpha():
        return text
    made, last = text[0].upper(), _SOUNDS.get(text[0].upper(), "")
    for letter in text[1:].upper():
        if not (letter.isascii() and letter.isalpha()):
            last = ""
            continue
        sound = _SOUNDS.get(letter, "")
        if sound and sound != last:
            made += sound
        if letter not in "HW":
            last = sound
    return made[:4].ljust(4, "0")


def sha(text: str, bits: int) -> Struct:
    name = {0: "sha256", 1: "sha1", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(bits)
    return NONE if name is None else some(hashlib.new(name, text.encode()).hexdigest())


def crc32(text: str) -> int:
    return zlib.crc32(text.encode())


def base64(text: str) -> str:
    return base64s.b64encode(text.encode()).decode()


def octets(text: str) -> int:
    return len(text.encode())


def regexp_extract(text: str, pattern: str, at: int) -> str:
    found = searched(pattern, captures=True, ascii=True).search(text)
    return "" if found is None else group_of(found, at)


def regexp_substr(text: str, pattern: str) -> Struct:
    found = searched(pattern, captures=True, ascii=True).search(text)
    return NONE if found is None else some(found.group())


def regexp_count(text: str, pattern: str) -> int:
    return sum(1 for _ in searched(pattern, captures=True, ascii=True).finditer(text))


def regexp_instr(text: str, pattern: str) -> int:
    found = searched(pattern, captures=True, ascii=True).search(text)
    return 0 if found is None else found.start() + 1


_REFERENCE = re.compile(r"\\(.)|\$(\d+)", re.DOTALL)


def regexp_replace(text: str, pattern: str, by: str) -> str:
    def filled(found: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda each: each[1] or group_of(found, int(each[2])), by)

    return replaced_by(text, pattern, filled, True)


# ------------------------------------------------------------------------ lists


def at(values: Vec, place: int) -> Struct:
    if not 0 <= place < len(values):
        raise Fault(f"a list of {len(values)} elements has none at {place}")
    found: Struct = values[place]
    return found


def element_at(values: Vec, place: int) -> Struct:
    if not place:
        raise Fault("the first element of a list is at 1, not at 0")
    if abs(place) > len(values):
        raise Fault(f"a list of {len(values)} elements has none at {place}")
    found: Struct = values[place - 1 if place > 0 else place]
    return found


def slice(values: Vec, from_: int, count: int) -> Vec:
    if not from_ or count < 0:
        raise Fault("a slice begins at 1, or at -1 from the end, and has a length of 0 or more")
    first = from_ - 1 if from_ > 0 else len(values) + from_
    return Vec(values[first : first + count] if first >= 0 else ())


def distinct(values: Vec) -> Vec:
    return Vec(dict.fromkeys(values))


def intersect(a: Vec, b: Vec) -> Vec:
    return Vec(each for each in dict.fromkeys(a) if each in b)


def minus(a: Vec, b: Vec) -> Vec:
    return Vec(each for each in dict.fromkeys(a) if each not in b)


def repeated(value: object, count: int) -> Vec:
    reserve(8 * max(count, 0))
    return Vec([value] * max(count, 0))


def sequence(start: int, end: int, step: int) -> Vec:
    if (end - start) * step < 0 or (not step and start != end):
        raise Fault(f"the steps of a sequence from {start} to {end} cannot be {step}")
    reserve(8 * ((end - start) // step if step else 1))
    return Vec(map(some, range(start, end + (1 if step >= 0 else -1), step or 1)))


def inserted(values: Vec, place: int, value: Struct) -> Vec:
    if not place:
        raise Fault("the first element of a list is at 1, not at 0")
    at, made = place - 1 if place > 0 else len(values) + place + 1, list(values)
    reserve(8 * abs(place))
    if at < 0:
        return Vec([value, *[NONE] * -at, *made])
    made += [NONE] * (at - len(made))
    return Vec([*made[:at], value, *made[at:]])


def overlap(a: Vec, b: Vec) -> Struct:
    if any(each in b for each in a if each != NONE):
        return some(True)
    return NONE if a and b and (NONE in a or NONE in b) else some(False)


def numbered(values: Vec) -> Vec:
    return Vec((some(at), each) for at, each in enumerate(values))
