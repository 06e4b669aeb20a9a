"""Read the values that the embedded store keeps packed: LZ4 blocks in its pages. `values`.

The store writes each payload as JSON, packed by itself: four bytes with its length, then an LZ4
block (github.com/lz4/lz4, doc/lz4_Block_format.md), from a multiple of 128 bytes of the page on. A
deleted value stays like that until the page is written anew, so what was deleted is read here too.
Whatever is broken off is given as far as it goes: nothing here raises.
"""

import re
from collections.abc import Collection, Iterator

import numpy as np

UNIT = 128
"""Bytes of the store's pages at whose multiples values begin."""

MARK = b'{"'
"""How every value begins: an object of JSON, whose first bytes are never packed."""

TENANT = re.compile(rb'.?\{"tenant":"([0-9a-f]{32})"', re.DOTALL)
"""What a payload begins with, behind the token and perhaps a byte of its literals' length."""

LONGEST = 64 << 20
"""Bytes; what claims to be longer is no value."""


def places(page: bytes) -> list[int]:
    """Return the positions at which a value seems to begin, in steps of 128 bytes."""
    size = len(page) // UNIT * UNIT
    if not size:
        return []
    heads = np.frombuffer(page, np.uint8, size).reshape(-1, UNIT)[:, :7]
    length = np.ascontiguousarray(heads[:, :4]).view("<u4").ravel()
    short = (heads[:, 5] == MARK[0]) & (heads[:, 6] == MARK[1])
    literals = heads[:, 4] >> 4
    maybe = (
        (literals >= len(MARK)) & (short | (literals == 15)) & (length > 0) & (length <= LONGEST)
    )
    return [int(n) * UNIT for n in np.flatnonzero(maybe)]


def value(page: bytes, place: int) -> bytes:
    """Return the value at a place, unpacked as far as it is whole; empty where there is none.

    Worked example: ``06 00 00 00`` says six bytes, ``20 7b 22 02 00`` two literals ``{"`` and a
    match of four that begins two back: ``{"{"{"``.
    """
    wanted = int.from_bytes(page[place : place + 4], "little")
    out = bytearray()
    at = place + 4
    try:
        while len(out) < wanted:
            token = page[at]
            literals, at = _length(page, at + 1, token >> 4)
            out += page[at : at + literals]
            if not out.startswith(MARK):
                return b""
            at += literals
            if len(out) >= wanted:
                break
            back = page[at] | page[at + 1] << 8
            if not 0 < back <= len(out):
                break
            match, at = _length(page, at + 2, token & 15)
            match = min(match + 4, wanted - len(out))
            start = len(out) - back
            piece = out[start : start + match]
            out += (piece * (match // back + 1))[:match] if back < match else piece
    except IndexError:  # the page ends before the value does
        pass
    return bytes(out[:wanted])


def _length(page: bytes, at: int, first: int) -> tuple[int, int]:
    """Return a length that the token begins, and where it ends: 15 goes on, as does 255."""
    if first < 15:
        return first, at
    while page[at] == 255:
        first += 255
        at += 1
    return first + page[at], at + 1


def values(page: bytes, tenants: Collection[str] | None = None) -> Iterator[bytes]:
    """Yield the values of a page, the deleted ones too: all, or those of some tenants.

    Unpacking takes longest, and a payload begins with its tenant as it is: one that plainly has
    another is left packed.
    """
    wanted = None if tenants is None else {tenant.encode() for tenant in tenants}
    for place in places(page):
        if wanted is not None:
            tenant = TENANT.match(page, place + 5)
            if tenant and tenant[1] not in wanted:
                continue
        if found := value(page, place):
            yield found
