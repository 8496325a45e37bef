"""JSON bytes without their embeddings: long arrays of numbers are emptied on the way, whatever their key.

A store's embeddings are nine tenths of its export and are never read. Emptied before they are parsed, they cost
neither the time nor the memory of a float each. Strings pass unchanged, also those that spell an array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Bytes of numbers between brackets; an embedding of 128 floats has more, a list of links or tags fewer. Blanks in a
# row that are more than an indent: no embedding has so many.
LONG = 1024

_NUMBER = rb"-+.0-9eE, \t\r\nNaInfityul"  # also NaN, Infinity and null, which some programs write
_NUMBERS = re.compile(rb"[" + _NUMBER + rb"]*+")
_BLANKS = re.compile(rb"[ \t\r\n]{%d}" % LONG)
# So many blanks show in every 64th byte, which is a faster search.
_STEP = 64
_SOME_BLANKS = re.compile(rb"[ \t\r\n]{%d}" % (LONG // _STEP))
# No JSON string holds a raw line end, so a line end also closes the string of a damaged line.
_STRING = rb'(?:[^"\\\n]++|\\[^\n])*+'
_REST_OF_STRING = re.compile(_STRING)
_PLAIN = re.compile(rb'(?:[^"\[]++|"' + _STRING + rb'["\n]|\[(?=[^' + _NUMBER + rb"]))*+")


@dataclass
class Dropped:
    """What was left out so far."""

    arrays: int = 0
    bytes: int = 0


def slim(chunks: Iterable[bytes], dropped: Dropped) -> Iterator[bytes]:
    """The JSON (or JSON lines) in `chunks`, each array of more than `LONG` bytes of numbers as `[]`.

    As many blanks in a row are no numbers: they pass, so that a limit on what is parsed holds for them. An array that
    begins as such and goes on with something else becomes `[#`, which no parser takes: the reader then tells the
    place, and nothing is lost in silence.
    """
    kept, in_string, in_numbers = b"", False, False
    for chunk in chunks:
        buffer, pos = kept + chunk, 0
        kept = b""
        out: list[bytes] = []
        while pos < len(buffer):
            if in_numbers:
                end = _numbers_end(buffer, pos)
                dropped.bytes += end - pos
                in_numbers = end == len(buffer)
                if not in_numbers and buffer[end] != ord("]"):
                    out.append(b"#")
            elif in_string:
                end = _REST_OF_STRING.match(buffer, pos).end()
                if end == len(buffer) - 1 and buffer[end] == ord("\\"):
                    out.append(buffer[pos:end])
                    kept = buffer[end:]  # what is escaped comes with the next chunk
                    break
                in_string = end == len(buffer) or buffer[end] == ord("\\")
                end = min(end + 1, len(buffer))
                out.append(buffer[pos:end])
            else:
                end = _PLAIN.match(buffer, pos).end()
                out.append(buffer[pos:end])
                if end < len(buffer) and buffer[end] == ord('"'):
                    in_string = True
                    out.append(b'"')
                    end += 1
                elif end < len(buffer):
                    start, end = end, _numbers_end(buffer, end + 1)
                    if end - start > LONG:
                        in_numbers = True
                        dropped.arrays += 1
                        out.append(b"[")
                        end = start + 1
                    elif end == len(buffer):
                        kept = buffer[start:]  # too early to say
                        break
                    else:
                        out.append(buffer[start:end])
            pos = end
        yield b"".join(out)
    yield kept


def _numbers_end(buffer: bytes, start: int) -> int:
    """Where the numbers from `start` on end: at something else, or at too many blanks in a row."""
    end = _NUMBERS.match(buffer, start).end()
    blanks = _SOME_BLANKS.search(buffer[start:end:_STEP]) and _BLANKS.search(buffer, start, end)
    return end if blanks is None else blanks.start()
