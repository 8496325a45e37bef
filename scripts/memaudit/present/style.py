"""One look for all figures: sizes, colours, markers, and the names that readers see.

Colours are those of Okabe and Ito, told apart by colour-blind readers; where more are needed, markers, dashes
and hatches join in. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from .results import WriterInfo

PAGE_WIDTH = 7.2  # inches, two columns of a paper
PANEL_WIDTH = 1.72

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT_GREY, DARK_GREY = "#8A8A8A", "#E4E4E4", "#4D4D4D"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", (0, (3.5, 1.3)))
_LOOKS = len(CYCLE) * len(MARKERS)  # all different

RC = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same glyphs on every machine
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": DARK_GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": LIGHT_GREY,
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.6,
    "hatch.linewidth": 0.5,
    "figure.titlesize": 8.5,
    "savefig.dpi": 220,
    "pdf.fonttype": 42,  # embedded TrueType, text stays text
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.05,
    "figure.constrained_layout.w_pad": 0.05,
}

# Classes in the order in which figures and tables list them.
EXACT, ORACLE, BLIND, PROXY = "Exact optima", "Oracle rules", "Estimated and coverage-free", "Proxies"
CLASSES = (EXACT, ORACLE, BLIND, PROXY)
CLASS_COLOURS = {EXACT: BLACK, ORACLE: BLUE, BLIND: GREEN, PROXY: VERMILLION}


@dataclass(frozen=True)
class Look:
    """How a writer's line is drawn."""

    colour: str
    marker: str
    dashes: str | tuple = "-"


# name: (label, index into CYCLE). The order is the order of display within a class.
_WRITERS: dict[str, tuple[str, int]] = {
    "opt": ("OPT", 6),
    "no_tombstone_opt": ("No-tombstone OPT", 1),
    "generic_candidate_opt": ("Generic-candidate OPT", 0),
    "summary_candidate_opt": ("Summary-candidate OPT", 2),
    "oracle_gvt": ("Oracle GVT", 0),
    "no_tombstone_gvt": ("No-tombstone GVT", 1),
    "generic_candidate_gvt": ("Generic-candidate GVT", 2),
    "greedy": ("Greedy", 3),
    "density_only": ("Density only", 4),
    "fact_only": ("Fact only", 5),
    "summary_only": ("Summary only", 6),
    "estimated_gvt": ("Estimated GVT", 0),
    "estimated_utility": ("Estimated utility", 1),
    "estimated_gvt_noisy": ("Estimated GVT, noisy", 2),
    "estimated_gvt_external": ("Estimated GVT, external", 3),
    "estimated_gvt_learned": ("Estimated GVT, learned", 4),
    "recency_raw": ("Recency, raw spans", 5),
    "reservoir_raw": ("Reservoir, raw spans", 6),
    "mem0_extract": ("Mem0-style (proxy)", 0),
    "memgpt_tiered": ("MemGPT/Letta-style (proxy)", 1),
    "amac_admission": ("A-MAC-style (proxy)", 2),
    "amem_graph": ("A-Mem-style (proxy)", 3),
}
_ORDER = {name: i for i, name in enumerate(_WRITERS)}

# Representation types: colour and hatch. Related types share a colour, the later one is hatched.
_TYPES: dict[str, tuple[str, str]] = {
    "raw_span": (GREY, ""),
    "raw": (GREY, "////"),
    "turn": (DARK_GREY, ""),
    "turn_window": (DARK_GREY, "////"),
    "atomic_fact": (BLUE, ""),
    "fact": (BLUE, "////"),
    "interval_fact": (SKY, ""),
    "graph_edge": (SKY, "////"),
    "summary": (GREEN, ""),
    "skill": (GREEN, "////"),
    "compound_evidence": (YELLOW, ""),
    "abstention": (PURPLE, ""),
    "uncertainty": (PURPLE, "////"),
    "tombstone": (VERMILLION, ""),
    "compound_update": (ORANGE, ""),
}
# Pools: label and look; dashed are those whose lines may lie on others.
_POOLS: dict[str, tuple[str, Look]] = {
    "full": ("All candidates", Look(BLACK, "o")),
    "no_validity": ("Without tombstones and compound updates", Look(VERMILLION, "s", _DASHES[1])),
    "generic": ("Generic candidates", Look(BLUE, "^")),
    "summary": ("Summaries", Look(GREEN, "v")),
    "atomic_fact": ("Atomic facts", Look(SKY, "D", _DASHES[1])),
}
ROLE_COLOURS = {"current": SKY, "invalidation": ORANGE, "stale": "#BDBDBD", "": "#DCE8D4"}
ROLE_LABELS = {
    "current": "current state",
    "invalidation": "invalidation",
    "stale": "stale state",
    "": "no validity role",
}


@contextmanager
def house_style() -> Iterator[None]:
    """matplotlib with our settings and nobody else's (no user style file), restored afterwards."""
    import matplotlib

    with matplotlib.rc_context(), matplotlib.rc_context(dict(_defaults(matplotlib.rcParamsDefault)) | RC):
        yield


def _defaults(parameters: Mapping) -> Iterator[tuple[str, object]]:
    """Default settings but the backend: it is global state, and figures here carry their own canvas."""
    return ((key, parameters[key]) for key in parameters if not key.startswith(("backend", "date.epoch")))


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **subplots):
    """A figure on the Agg canvas (inches) and its axes as a rows x columns array; pyplot stays out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **subplots)


def known(name: str) -> WriterInfo:
    """A WriterInfo for a name met in a frame only: the paper's names are rules of their own."""
    return WriterInfo(name, name)


def label(writer: WriterInfo | str) -> str:
    """The name a reader sees. A proxy always says so."""
    writer = known(writer) if isinstance(writer, str) else writer
    text = _WRITERS[writer.name][0] if writer.name in _WRITERS else prettify(writer.name)
    return f"{text} (proxy)" if writer.shown_as_proxy and not text.endswith("(proxy)") else text


def prettify(name: str) -> str:
    """`update_chain` -> `Update chain`; a hyphen stays, as in the data's own `multi-hop`."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def writer_class(writer: WriterInfo) -> str:
    """The one of CLASSES that a writer is shown in."""
    if writer.shown_as_proxy:
        return PROXY
    if writer.sees == "solution":
        return EXACT
    return ORACLE if writer.sees == "coverage" else BLIND


def ordered(writers: Iterable[WriterInfo]) -> list[WriterInfo]:
    """By class, then the order above, then name."""
    return sorted(writers, key=lambda w: (CLASSES.index(writer_class(w)), _ORDER.get(w.name, len(_ORDER)), w.name))


def writer_colour(writer: WriterInfo) -> str:
    """Colour of a writer's class, for figures that tell writers apart by their rows."""
    return CLASS_COLOURS[writer_class(writer)]


def by_class(writers: Iterable[WriterInfo]) -> dict[str, list[WriterInfo]]:
    """The classes that have writers, in order, each with its writers in order."""
    groups: dict[str, list[WriterInfo]] = {}
    for writer in ordered(writers):
        groups.setdefault(writer_class(writer), []).append(writer)
    return groups


def looks(writers: Sequence[WriterInfo]) -> dict[str, Look]:
    """Colour and marker of each writer of one panel: fixed for ours, the next free ones for unknown names."""
    chosen = {w.name: _look(_WRITERS[w.name][1]) for w in writers if w.name in _WRITERS}
    taken = set(chosen.values())
    free = [look for look in map(_look, range(_LOOKS)) if look not in taken]
    for i, name in enumerate(sorted(w.name for w in writers if w.name not in _WRITERS)):
        chosen[name] = free[i % len(free)]
    return chosen


def distinct(writers: Sequence[WriterInfo]) -> dict[str, Look]:
    """A look of its own for each writer of a panel that shows several classes, in order of display."""
    return {w.name: _look(i) for i, w in enumerate(ordered(writers))}


def _look(index: int) -> Look:
    """Every second line is dashed, so that two lines on top of each other are both seen."""
    lap, place = divmod(index, len(CYCLE))
    return Look(CYCLE[place], MARKERS[(place + lap) % len(MARKERS)], _DASHES[place % 2])


def type_looks(types: Iterable[str]) -> dict[str, tuple[str, str]]:
    """(colour, hatch) of each representation type in order of display; unknown types get the free hatches."""
    present = set(types)
    chosen = {name: look for name, look in _TYPES.items() if name in present}
    spare = [(colour, hatch) for hatch in ("....", "xxxx", "\\\\\\\\") for colour in CYCLE[:-1]]
    for i, name in enumerate(sorted(present - set(_TYPES))):
        chosen[name] = spare[i % len(spare)]
    return chosen


def pool_label(pool: str) -> str:
    """The name of a pool that a reader sees."""
    return _POOLS[pool][0] if pool in _POOLS else prettify(pool)


def pool_looks(pools: Iterable[str]) -> dict[str, Look]:
    """Colour and marker of each pool in order of display: fixed for the built-in ones, else the next free ones."""
    present = set(pools)
    chosen = {pool: look for pool, (_, look) in _POOLS.items() if pool in present}
    taken = {look.colour for look in chosen.values()}
    free = sorted(map(_look, range(_LOOKS)), key=lambda look: look.colour in taken)  # colours of their own first
    return chosen | {pool: free[i % len(free)] for i, pool in enumerate(sorted(present - set(_POOLS)))}


def darker(colour: str, factor: float = 0.72) -> str:
    """The colour for text on white."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{int(c * factor):02X}" for c in (red, green, blue))


def ink_on(rgba: Sequence[float]) -> str:
    """Black or white, whichever reads better on a fill (components in [0, 1])."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3])
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.25 else BLACK
