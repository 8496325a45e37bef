"""Parts that several figures share: rows of writers by class, budget axes, line labels, titles and notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from . import style
from .results import Results, Setting, SuiteInfo, WriterInfo

_STEPS = 3000  # points of a curve over the width of a page
ROW_HEIGHT = 0.165  # inches of one writer in a figure whose rows are writers


@dataclass(frozen=True)
class Rows:
    """Writers from top to bottom with a heading above each class; positions count rows from 0 downwards."""

    writers: tuple[WriterInfo, ...]
    at: tuple[float, ...]
    headings: tuple[tuple[str, float], ...]

    @property
    def height(self) -> float:
        """Inches the rows need."""
        return ROW_HEIGHT * (self.at[-1] + 1)

    def frame(self, axes, labelled: bool) -> None:
        """Set the y axis; the labels stand at the leftmost panel only."""
        axes.set_ylim(self.at[-1] + 0.6, min(y for _, y in self.headings) - 0.5)
        axes.set_yticks(self.at, [style.label(w) for w in self.writers] if labelled else [])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        for heading, y in self.headings if labelled else ():
            axes.annotate(
                heading,
                (0, y),
                xytext=(-3, 0),
                xycoords=axes.get_yaxis_transform(),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=7,
                fontweight="bold",
                color=style.DARK_GREY,
                annotation_clip=False,
            )


def rows_of(writers: Sequence[WriterInfo]) -> Rows:
    """The writers laid out by class."""
    flat, at, headings, y = [], [], [], 0.0
    for heading, members in style.by_class(writers).items():
        headings.append((heading, y))
        for writer in members:
            y += 1.0
            flat.append(writer)
            at.append(y)
        y += 1.35
    return Rows(tuple(flat), tuple(at), tuple(headings))


def labeller(suite: SuiteInfo) -> Callable[[str], str]:
    """Writer name -> the name a reader sees."""
    configured = {w.name: w for w in suite.writers}
    return lambda name: style.label(configured.get(name, name))


def writers_in(suite: SuiteInfo, frame: pd.DataFrame) -> list[WriterInfo]:
    """The writers of a frame in order of display, as configured (a name alone where they are not)."""
    configured = {w.name: w for w in suite.writers}
    return style.ordered(configured.get(name, style.known(name)) for name in sorted(set(frame["writer"])))


def grid(panels: int, most_columns: int) -> tuple[int, int]:
    """Rows and columns for a number of panels."""
    columns = min(panels, most_columns)
    return math.ceil(panels / columns), columns


def panels_of(axes, count: int) -> list:
    """The first `count` axes of an array; the rest are taken out of the figure."""
    flat = list(axes.flat)
    for spare in flat[count:]:
        spare.remove()
    return flat[:count]


def round_budgets_axis(axes, first: int, last: int, inches: float) -> None:
    """Logarithmic budget axis from `first` to `last` with ticks at 1, 2, 5, 10, 20, ..., as many as can be labelled."""
    powers = range(len(str(last)))
    around = [digit * 10**power for power in powers for digit in (1, 2, 5) if first <= digit * 10**power <= last]
    budget_axis(axes, [first, last], inches, around if len(around) > 1 else None)


def thinned_steps(
    budgets: Sequence[int], values: Sequence[float], first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Points of a step curve (budgets rising, from 0) between two budgets >= 1, no more than a reader could tell
    apart."""
    x, y = np.asarray(budgets), np.asarray(values)
    ends = [first, last]
    x, y = np.append(x, ends), np.append(y, y[np.searchsorted(x, ends, side="right") - 1])
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    x, y = x[(x >= first) & (x <= last)], y[(x >= first) & (x <= last)]
    place = np.floor(np.log2(x / first) * (_STEPS / max(1.0, math.log2(last / first))))
    keep = np.append(place[1:] != place[:-1], True)
    return x[keep], y[keep]


def budget_axis(axes, budgets: Sequence[int], inches: float, ticks: Sequence[int] | None = None) -> None:
    """Logarithmic budget axis of about `inches` with ticks at the budgets (or `ticks`), as many as can be labelled."""
    budgets = sorted(set(budgets))
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    low, high = math.log2(budgets[0]), math.log2(budgets[-1])
    pad = 0.06 * (high - low) or 0.5
    axes.set_xlim(2 ** (low - pad), 2 ** (high + pad))
    budgets = ticks or budgets
    per_unit = inches / (high - low + 2 * pad)
    shown, right_edge = [], -math.inf
    for budget in budgets:
        centre, half = math.log2(budget) * per_unit, 0.04 * len(f"{budget:,}") + 0.02
        if centre - half > right_edge:
            shown.append(budget)
            right_edge = centre + half
    axes.set_xticks(shown, [f"{b:,}" for b in shown])


def label_ends(axes, ends: Mapping[str, tuple[float, str]], inches: float, size: float = 7) -> None:
    """Write each line's name (label -> (y of its last point, colour)) right of an axes of about `inches`
    height, pushed apart where they would touch and tied to the line by a thin leader."""
    low, high = axes.get_ylim()
    gap = (high - low) * size * 1.22 / 72 / inches
    names = sorted(reversed(ends), key=lambda name: ends[name][0])  # of equals, the first stands highest
    spread = _spread([ends[name][0] for name in names], gap, low + gap / 2, high - gap / 2)
    across = axes.get_yaxis_transform()
    for name, y in zip(names, spread, strict=True):
        colour = ends[name][1]
        axes.plot([1.005, 1.05], [ends[name][0], y], color=colour, linewidth=0.6, transform=across, clip_on=False)
        axes.text(1.065, y, name, color=style.darker(colour), fontsize=size, va="center", transform=across)


def _spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending positions as near as possible to the wanted ones, `gap` apart: touching labels form blocks
    centred on the mean of their wishes, kept within [low, high] where they fit."""
    blocks: list[list[float]] = []  # each: [first position, members, sum of (wish - offset)]
    for y in wanted:
        blocks.append([y, 1, y])
        while True:
            block = blocks[-1]
            block[0] = max(low, min(block[2] / block[1], high - gap * (block[1] - 1)))
            if len(blocks) < 2 or blocks[-2][0] + gap * blocks[-2][1] <= block[0]:
                break
            _, members, total = blocks.pop()
            before = blocks[-1]
            before[2] += total - gap * before[1] * members
            before[1] += members
    return [first + gap * i for first, members, _ in blocks for i in range(int(members))]


def title(figure, results: Results, suite: str, what: str, n: str, *, of_setting: bool = True) -> None:
    """Above the panels: what is shown, of which suite (and setting, where it has several), n, what the suite is.
    of_setting: whether what is shown depends on a setting at all."""
    info = results.info.suite(suite)
    named = of_setting and (len(info.settings) > 1 or info.settings[0] != Setting())
    setting = f" ({info.settings[0]})" if named else ""
    text = f"{what}, suite {suite}{setting}, {n}".replace(" = ", "\u00a0=\u00a0")
    letters = int(figure.get_figwidth() / 0.064)
    lines = [line for part in (text, info.about) for line in textwrap.wrap(part, letters, break_on_hyphens=False)]
    figure.suptitle("\n".join(lines), x=0.012, ha="left")


def legend_columns(labels: Sequence[str], inches: float) -> int:
    """Columns of a legend (filled column by column) in the fewest rows that fit a figure of that width."""
    for depth in range(1, len(labels)):
        columns = math.ceil(len(labels) / depth)
        longest = [max(map(len, labels[i : i + depth])) for i in range(0, len(labels), depth)]
        if sum(0.5 + 0.054 * letters for letters in longest) <= inches:
            return columns
    return 1


def note(figure, lines: Sequence[str]) -> None:
    """Small remarks below the panels (above a legend that stands there), wrapped to the figure."""
    if not lines:
        return
    letters = int(figure.get_figwidth() / 0.0525)
    text = "\n".join(part for line in lines for part in textwrap.wrap(line, letters, break_on_hyphens=False))
    if figure.legends:  # the layout engine would put both in the same place
        legend = figure.legends[0]
        legend.set_alignment("left")
        legend.set_title(text, prop={"size": 6.5})
        legend.get_title().set_color(style.DARK_GREY)
    else:
        figure.supxlabel(text, x=0.012, ha="left", fontsize=6.5, color=style.DARK_GREY)
