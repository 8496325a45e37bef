"""How much of a text another text keeps, by words alone: a stated rule that anybody can recompute.

Content words are the distinct words of a text, case folded, that are neither in `STOP_WORDS` nor excluded by
name. Words are compared as they stand (no stemming, no synonyms: "painted" is not "painting"), so a share is
a lower bound on what a rewording keeps. Numbers are content words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from fractions import Fraction

# A number with its separators (1,200; 3.5; 7:30), or letters with inner apostrophes. "3rd" is 3 and rd, "7pm" is
# 7 and pm, so that numbers meet however they are written.
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")

# English function words, their contractions, and what people say to keep a talk going. Written for this module.
STOP_WORDS = frozenset(
    """
    a an the this that these those here there
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves one who whom whose which what when where why how
    someone something anyone anything everyone everything nothing
    am is are was were be been being do does did doing done have has had having can could may might must shall
    should will would get gets got gotten getting go goes going gonna let lets
    and or but nor so if then than because as while though although until unless whether
    of at by for with about into through during before after above below to from up down in out on off over under
    again between around since upon toward towards along across without within
    not no yes any all both each few more most other some such only own same too very just also really quite still
    even ever never always already yet now much many lot lots bit well like kind sort pretty
    i'm you're he's she's it's we're they're that's there's here's what's who's how's where's let's
    i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll it'll we'll they'll that'll
    don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't cannot couldn't won't wouldn't
    shouldn't ain't
    oh ah hey hi hello wow yeah yep yup nope ok okay hmm haha lol thanks thank thx bye sure
    """.split()  # noqa: SIM905 (a list of this length reads better as text)
)


def content_words(text: str, exclude: Collection[str] = ()) -> frozenset[str]:
    """The distinct content words of `text`; `exclude`: further words (case folded) that do not count.

    Typographic apostrophes count as plain ones; a final "'s" is taken off (Ann's -> ann).
    """
    tokens = _TOKEN.findall(text.casefold().replace("\u2019", "'"))
    words = (token if token in STOP_WORDS else token.removesuffix("'s") for token in tokens)
    return frozenset(word for word in words if word not in STOP_WORDS and word not in exclude)


def kept_share(of: frozenset[str], by: frozenset[str], grid: int, floor: float = 0.0) -> float:
    """The share of the words `of` that `by` holds, rounded down to a multiple of 1/grid; below `floor` it is 0.

    1.0 needs every word. Where `of` is empty nothing can be said to be kept: 0.
    """
    if not of:
        return 0.0
    share = Fraction(len(of & by), len(of))
    return math.floor(share * grid) / grid if share >= Fraction(str(floor)) else 0.0
