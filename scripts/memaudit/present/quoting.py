"""Text of others in a page: it is shown as it stands, does nothing, and is cut where it is long."""

from __future__ import annotations

import re
import unicodedata

_BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
# Controls, formats (bidi overrides, zero width) and half surrogates are shown by number; joiners are part of writing.
_UNSEEN = {"Cc", "Cf", "Cs"}
_JOINERS = "\u200c\u200d"
# What is markup anywhere in a line; an underscore only at the edge of a word, a bracket only before a link's target.
_MARKUP = re.compile(r"[\\`*~$|]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])")
_ENTITY = re.compile(r"&(?=#?\w+;)")


def visible(text: str) -> str:
    """The text on one line, each letter that cannot be seen, or turns others around, as \\u{number}."""
    return "".join(map(_seen, _BREAKS.sub(" ", text)))


def _seen(letter: str) -> str:
    hidden = unicodedata.category(letter) in _UNSEEN and letter not in _JOINERS
    return f"\\u{{{ord(letter):x}}}" if hidden else letter


def markdown(text: str) -> str:
    """Markdown that shows `visible(text)`: no HTML, emphasis, code, formula, link, or end of a table's cell."""
    plain = _MARKUP.sub(r"\\\g<0>", visible(text))
    return _ENTITY.sub("&amp;", plain).replace("<", "&lt;")


def shortened(text: str, most: int) -> str:
    """At most `most` characters: a longer text is cut at the end of a word and has an ellipsis, the first half of
    `most` stays whatever its words are."""
    if len(text) <= most:
        return text
    words = text[:most].rpartition(" ")[0].rstrip(" ,;:.-")
    return (words if len(words) >= most // 2 else text[: most - 1]) + "\u2026"
