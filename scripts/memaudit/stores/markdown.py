"""A memory file in Markdown: one memory a bullet, and one a heading (or paragraph run) with text of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from .builder import Builder
from .registry import adapter, fitting

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)(.*)")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")


@dataclass
class _Block:
    heading: str = ""
    lines: list[str] = field(default_factory=list)
    is_bullet: bool = False
    has_text: bool = False


@adapter("markdown", "memory_file", lambda content: isinstance(content, str))
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """A bullet is its text without the mark, continuation lines and all; nested bullets are memories of their own.

    A block is a heading line and the text below it that is no bullet; text above the first heading is one too.
    The order is the file's; there are no times. Front matter, and headings without text, are skipped.
    """
    if not isinstance(content, str):
        names = " or ".join(other.name for other in fitting(content))
        of = f"; by its keys it is of format {names}" if names else ""
        raise InputError(f"format markdown is the text of a .md file, and this is JSON or a table{of}")
    lines = content.replace("\r\n", "\n").split("\n")
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        lines = lines[1 + [line.strip() for line in lines[1:]].index("---") + 1 :]
        builder.count_row()
        builder.skip("front matter")
    for number, block in enumerate(_blocks(lines), start=1):
        builder.count_row()
        if not block.has_text:
            builder.skip("heading without text")
            continue
        kind = "bullet" if block.is_bullet else "block"
        details = {"heading": block.heading, "kind": kind} if block.heading else {"kind": kind}
        builder.add(f"{kind}-{number}", "\n".join(block.lines).strip("\n"), details=details)


def _blocks(lines: list[str]) -> Iterator[_Block]:
    block, heading, fence, indent = _Block(), "", "", 0
    for line in lines:
        mark = _FENCE.match(line)
        if fence or mark:
            fence = "" if fence and mark and mark[1].startswith(fence) else fence or mark[1]
            block.lines.append(line)
            block.has_text = True
            continue
        title, is_rule = _HEADING.fullmatch(line), _RULE.fullmatch(line) is not None
        bullet = None if is_rule else _BULLET.match(line)
        leaves = block.is_bullet and line.strip() and not bullet and not line.startswith((" ", "\t")) and _gap(block)
        if title or is_rule or bullet or leaves:
            if block.lines and (block.has_text or not block.is_bullet):
                yield block
            heading = _CLOSING.sub("", title[2]).strip() if title else heading
            block = _Block(heading, is_bullet=bool(bullet))
        if is_rule:
            continue
        if bullet:
            line, indent = line[bullet.end() :], bullet.end()
        elif block.is_bullet and line.strip():
            line = line[:indent].lstrip() + line[indent:]
        block.has_text = block.has_text or bool(line.strip() and not title)
        if line.strip() or block.has_text:
            block.lines.append(line)
    if block.lines:
        yield block


def _gap(block: _Block) -> bool:
    """Whether the block's last line is blank: what follows without indent is no continuation of the bullet."""
    return bool(block.lines) and not block.lines[-1].strip()
