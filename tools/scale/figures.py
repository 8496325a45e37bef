"""The figures of a run's frame (tables.py), as PNG."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from memaudit.present import style
from memaudit.table_io import atomic_path

from . import tables

NAMES = {
    "memaudit": "MEMAUDIT, one budget",
    "memaudit_curve": "MEMAUDIT, all budgets",
    "highs": "HiGHS",
    "cbc": "CBC",
    "scip": "SCIP",
    "cp_sat": "CP-SAT, tuned",
    "plain_python": "plain Python",
}
_LOOKS = [(name, *look) for name, *look in zip(NAMES, style.CYCLE, style.MARKERS, strict=True)]
_TITLES = {"chains": "chains", "path": "one long path", "shared_corpus": "shared corpus", "dense": "dense overlap"}
_MOST_TICKS = 5


def times(rows: pd.DataFrame, path: Path) -> None:
    """Seconds to the proof against groups at 10 % budgets, a panel a family with several sizes: the median of the
    seeds proven; a hollow mark at the limit where a solver left one unproven."""
    main = rows[rows["main"] & (rows["fraction"] == 0.1) & rows["seconds"].notna()]
    panels = [f for f in _TITLES if main.loc[main["family"] == f, "size"].nunique() > 1]
    with style.house_style():
        figure, axes = style.new_figure(style.PAGE_WIDTH, 3.1, 1, max(1, len(panels)), sharey=True)
        for ax, family in zip(axes[0], panels, strict=False):
            for solver, colour, marker in _LOOKS:
                part = main[(main["family"] == family) & (main["solver"] == solver)]
                if part.empty:
                    continue
                groups = part.groupby("size")["groups"].median()
                solved = part[part["solved"]].groupby("size")["seconds"].median()
                ax.plot(groups[solved.index], solved, color=colour, marker=marker, label=NAMES[solver])
                left = part[~part["solved"]].groupby("size")["limit"].max()
                ax.plot(groups[left.index], left, color=colour, marker=marker, mfc="white", ls="")
            ax.set(xscale="log", yscale="log", title=_TITLES[family], xlabel="groups")
            _ticks(ax, sorted(main.loc[main["family"] == family, "size"].unique()))
            ax.grid(axis="y")
        axes[0][0].set_ylabel("seconds to the proof")
        _legend(figure, axes[0], 4 if len(panels) > 1 else 3)
        _save(figure, path)


def profile(rows: pd.DataFrame, path: Path) -> None:
    """Performance profile: share of instances proven within t times the seconds of the fastest solver."""
    ratios = tables.profile(rows)
    with style.house_style():
        figure, axes = style.new_figure(style.PAGE_WIDTH * 0.62, 2.9)
        ax = axes[0][0]
        finite = [r for found in ratios.values() for r in found if math.isfinite(r)]
        right = 2 * max(finite, default=1.0)
        for solver, colour, _ in _LOOKS:
            if solver in ratios:
                found = ratios[solver][np.isfinite(ratios[solver])]
                share = np.arange(len(found) + 1) / len(ratios[solver])
                ax.step([1, *found, right], [0, *share[1:], share[-1]], where="post", color=colour, label=NAMES[solver])
        ax.set(
            xscale="log", xlim=(1, right), ylim=(0, 1.02), xlabel="t", ylabel="share proven within t times the fastest"
        )
        ax.set_title(f"{max((len(r) for r in ratios.values()), default=0)} instances, one budget each")
        ax.grid(axis="y")
        _legend(figure, axes[0], 3)
        _save(figure, path)


def gaps(rows: pd.DataFrame, path: Path) -> None:
    """The largest gap over seeds on the dense family against the seconds given (of ours: taken, at several shares of
    its limits), for cells solved at several limits (no file where there are none); left out where a seed ended without
    value or bound."""
    found = tables.gaps(rows)
    panels = tables.gap_panels(found)
    if not panels:
        return
    with style.house_style():
        width = style.PAGE_WIDTH * (0.62 if len(panels) == 1 else 1)
        figure, axes = style.new_figure(width, 3.1, 1, len(panels), sharey=True)
        for ax, (size, fraction) in zip(axes[0], panels, strict=False):
            own = found[(found["size"] == size) & (found["fraction"] == fraction)]
            for solver, colour, marker in _LOOKS:
                line = own[(own["solver"] == solver) & own["gap_max"].notna()]
                if len(line):
                    ax.plot(line["seconds"], 100 * line["gap_max"], color=colour, marker=marker, label=NAMES[solver])
            ax.set(xscale="log", title=f"{size} groups, {100 * fraction:g} % budget", xlabel="seconds")
            ax.set_yscale("symlog", linthresh=0.1)
            ax.set_ylim(-0.01, max(1.0, 150 * found["gap_max"].max()))
            _ticks(ax, sorted(own["limit"].unique()))
            ax.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
            ax.grid(axis="y")
        axes[0][0].set_ylabel("largest gap, %")
        _legend(figure, axes[0], 4 if len(panels) > 1 else 3)
        _save(figure, path)


def _ticks(ax, sizes) -> None:
    """Ticks of a log axis at the sizes themselves, or at the powers of ten among many, as plain numbers."""
    if len(sizes) > _MOST_TICKS:
        sizes = [10.0**e for e in range(math.floor(math.log10(sizes[0])), math.ceil(math.log10(sizes[-1])) + 1)]
    ax.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
    ax.set_xticks([], minor=True)


def _legend(figure, axes, columns: int) -> None:
    """Every solver that some panel shows, once, in order."""
    shown: dict[str, object] = {}
    for ax in axes:
        shown |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    labels = [name for name in NAMES.values() if name in shown]
    if labels:
        figure.legend([shown[name] for name in labels], labels, loc="outside lower center", ncols=columns)


def _save(figure, path: Path) -> None:
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", metadata={})
