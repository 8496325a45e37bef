"""One function a figure: f(results, suite) -> matplotlib Figure, registered under its name.

Call them through figures_io.draw, which sets the style. Each raises InputError where its data are missing:
there are no empty plots.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from ..analysis.construction import COUNTED_BY_ROLE
from ..errors import InputError
from . import style
from .drawing import (
    budget_axis,
    grid,
    label_ends,
    labeller,
    legend_columns,
    note,
    panels_of,
    round_budgets_axis,
    rows_of,
    thinned_steps,
    title,
    writers_in,
)
from .illustration import draw_package
from .registry import figure
from .remarks import (
    NOTHING_FITS,
    all_packages,
    curves_n_text,
    curves_notes,
    focus_notes,
    left_out_notes,
    n_notes,
    n_text,
    opt_zero_notes,
    retrieval_notes,
)
from .results import NothingToShow, Results, RunInfo, SuiteInfo, each_distribution, focus_budget, overall

RATIO = "Mean package ratio, F / OPT"
BUDGET = "Storage budget B"


def _scored(suite: SuiteInfo, run: RunInfo) -> bool:
    return bool(suite.writers)


def _swept(suite: SuiteInfo, run: RunInfo) -> bool:
    return bool(suite.writers) and suite.n_budgets > 1


def _many_distributions(suite: SuiteInfo, run: RunInfo) -> bool:
    return bool(suite.writers) and len(suite.distributions) > 1


def _scored_with_roles(suite: SuiteInfo, run: RunInfo) -> bool:
    """Packages made from conversations hardly have invalidation or stale units."""
    return bool(suite.writers) and suite.source in ("synthetic", "coverage_package")


def _optima(suite: SuiteInfo) -> dict[str, str]:
    """pool -> name of the exact writer on it."""
    return {w.pool: w.name for w in reversed(suite.writers) if w.rule == "opt"}


def _both_optima(suite: SuiteInfo, run: RunInfo) -> bool:
    return {"full", "no_validity"} <= set(_optima(suite))


def _curved(suite: SuiteInfo, run: RunInfo) -> bool:
    return suite.curve


def _illustrated(suite: SuiteInfo, run: RunInfo) -> bool:
    return suite.name == run.illustration


def _with_ratio(frame: pd.DataFrame, suite: str) -> pd.DataFrame:
    rows = frame[frame["mean_ratio"].notna()]
    if rows.empty:
        raise NothingToShow(f"suite {suite!r} has no package ratio that is defined and proven")
    return rows


@figure(_swept)
def budget_sweep(results: Results, suite: str):
    """Mean package ratio against budget with its bootstrap band; one panel a class of writers."""
    summary = _with_ratio(overall(results.of_suite("summary", suite)), suite)
    classes = style.by_class(writers_in(results.info.suite(suite), summary))
    rows, columns = grid(len(classes), 2)
    width, height = 3.6 * columns, 2.25
    fig, axes = style.new_figure(max(width, 4.4), height * rows + 0.45, rows, columns, sharey=True)
    budgets = summary["budget"].unique()
    top = max(1.0, summary["ci_high"].max())
    for ax, (heading, writers) in zip(panels_of(axes, len(classes)), classes.items(), strict=True):
        ax.set_ylim(-0.03, top + 0.05)
        ax.grid(axis="y")
        ax.set_title(heading)
        budget_axis(ax, budgets, 1.75)
        ends = {}
        for writer in writers:
            look = style.looks(writers)[writer.name]
            line = summary[summary["writer"] == writer.name].sort_values("budget")
            ax.fill_between(line["budget"], line["ci_low"], line["ci_high"], color=look.colour, alpha=0.18, linewidth=0)
            ax.plot(
                line["budget"],
                line["mean_ratio"],
                color=look.colour,
                marker=look.marker,
                linestyle=look.dashes,
                zorder=2.0 if look.dashes == "-" else 2.1,  # dashes over lines: both are seen
                markeredgecolor="white",
                markeredgewidth=0.4,
            )
            zero = line[(line["opt_zero_n"] > 0) & line["mean_ratio_opt_positive"].notna()]
            positive = zero["mean_ratio_opt_positive"]
            ax.vlines(zero["budget"], positive, zero["mean_ratio"], color=look.colour, linewidth=0.5, linestyle=":")
            ax.plot(zero["budget"], positive, look.marker, color=look.colour, markerfacecolor="white", markersize=3)
            ends[style.label(writer)] = (float(line["mean_ratio"].iloc[-1]), look.colour)
        label_ends(ax, ends, height - 0.6)
        ax.tick_params(labelleft=True)
    for row in axes:
        row[0].set_ylabel(RATIO)
    for ax in fig.axes[-columns:]:
        ax.set_xlabel(BUDGET)
    title(fig, results, suite, "Mean package ratio by budget", n_text(summary))
    band = "Bands: 95 % percentile bootstrap interval of the mean."
    zero = opt_zero_notes(summary)
    hollow = ["Hollow marks: means over the packages with OPT > 0."] if zero else []
    note(fig, [band, *_n_notes(results, suite, summary), *zero, *hollow, *left_out_notes(summary)])
    return fig


@figure(_many_distributions)
def stress_heatmap(results: Results, suite: str):
    """Mean package ratio of each writer on each distribution, at the third budget (the last of fewer)."""
    summary = _with_ratio(results.of_suite("summary", suite), suite)
    budget = focus_budget(summary["budget"])
    at = summary[summary["budget"] == budget]
    order = _distributions(results, suite, at)
    rows = rows_of(writers_in(results.info.suite(suite), at))
    cells = {(r.writer, r.distribution): r for r in at.itertuples()}

    fig, axes = style.new_figure(max(4.2, 2.15 + 0.61 * len(order)), rows.height + 1.45)
    ax = axes[0, 0]
    shade, scale = _shades("YlGnBu", at["mean_ratio"], 0.0, 1.0)
    starred = False
    for column, distribution in enumerate(order):
        for writer, y in zip(rows.writers, rows.at, strict=True):
            cell = cells.get((writer.name, distribution))
            if cell is None:
                _cell(ax, column, y, "#F4F4F4", "–")
                continue
            starred |= cell.opt_zero_n > 0
            _cell(
                ax,
                column,
                y,
                shade(scale(cell.mean_ratio)),
                f"{cell.mean_ratio:.3f}{'*' * (cell.opt_zero_n > 0)}",
            )
    rows.frame(ax, labelled=True)
    _column_heads(ax, [style.prettify(d) for d in order])
    _colour_bar(fig, ax, shade, scale, RATIO)
    title(
        fig,
        results,
        suite,
        f"Mean package ratio at B = {budget:,}",
        f"{n_text(each_distribution(at))} a column",
    )
    stars = ["* with packages of OPT = 0, where every writer scores 1"] if starred else []
    remarks = [*_n_notes(results, suite, each_distribution(at)), *stars, *left_out_notes(at)]
    note(fig, [*remarks, *focus_notes(summary["budget"])])
    return fig


@figure(_both_optima)
def validity_gap(results: Results, suite: str):
    """The validity frontier: OPT with and without tombstones and compound updates, the gap shaded.

    The panels share one scale, unless the largest mean of one is so small beside another's that its gap could not be
    seen; then each has its own, and the figure says so.
    """
    summary = each_distribution(results.of_suite("summary", suite))
    optima = _optima(results.info.suite(suite))
    summary = summary[summary["writer"].isin([optima["full"], optima["no_validity"]])]
    if summary["writer"].nunique() < 2:
        raise InputError(f"suite {suite!r}: {optima['full']} and {optima['no_validity']} must both be scored")
    names = _distributions(results, suite, summary)
    focus = focus_budget(summary["budget"])
    rows, columns = grid(len(names), 4)
    fig, axes = style.new_figure(
        max(style.PANEL_WIDTH * columns + 0.3, 3.9), 1.8 * rows + 1.1, rows, columns, sharex=True
    )
    lines = {
        "full": ("OPT", style.BLACK, "o", "-"),
        "no_validity": ("OPT without tombstones and compound updates", style.VERMILLION, "s", (0, (4, 1.5))),
    }
    panels = panels_of(axes, len(names))
    tops = summary[summary["writer"] == optima["full"]].groupby("distribution")["mean_value"].max()
    shared = tops.max() <= _MOST_SHARED * tops.min()
    for i, (ax, name) in enumerate(zip(panels, names, strict=True)):
        values = summary[summary["distribution"] == name].pivot(index="budget", columns="writer", values="mean_value")
        full, without = values[optima["full"]], values[optima["no_validity"]]
        ax.fill_between(values.index, without, full, color=style.VERMILLION, alpha=0.16, linewidth=0)
        for pool, (text, colour, marker, dashes) in lines.items():
            ax.plot(values.index, values[optima[pool]], color=colour, marker=marker, linestyle=dashes, label=text)
        budget_axis(ax, list(values.index), style.PANEL_WIDTH - 0.4)
        # Room above the highest marker, which an end of the axis at its centre would cut in half.
        top = tops.max() if shared else full.max()
        ax.set_ylim(0, 1.08 * top if top > 0 else 1.0)
        ax.grid(axis="y")
        lost = (1 - without / full).where(full > 0, 0.0)
        ax.set_title(textwrap.fill(style.prettify(name), 20), pad=20)
        ax.annotate(
            f"OPT lost: {100 * lost[focus]:.1f} % at B = {focus:,},\n"
            f"at most {100 * lost.max():.1f} %, at B = {lost.idxmax():,}",
            (0, 1),
            xytext=(0, 3),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=6.5,
            color=style.DARK_GREY,
        )
        ax.tick_params(labelbottom=i + columns >= len(names))
        if i + columns >= len(names):
            ax.set_xlabel(BUDGET)
    for row in range(rows):
        panels[row * columns].set_ylabel("Mean value of F")
    handles = panels[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower left", ncols=legend_columns(handles[1], fig.get_figwidth()))
    title(
        fig,
        results,
        suite,
        "Validity frontier gap",
        n_text(all_packages(summary)) + (" a panel" if len(names) > 1 else ""),
    )
    scales = [] if shared else ["Each panel has a scale of its own."]
    of = "OPT lost: the gap over mean OPT."
    note(fig, [of, *scales, *opt_zero_notes(overall(results.of_suite("summary", suite)), NOTHING_FITS)])
    return fig


# The largest mean of one panel over that of another up to which panels share a scale.
_MOST_SHARED = 3.0


@figure(_curved)
def opt_by_budget(results: Results, suite: str):
    """Mean OPT of each pool at every budget, declared budgets marked; a panel a distribution."""
    curves = each_distribution(results.of_suite("mean_curves", suite))
    names, looks = _distributions(results, suite, curves), style.pool_looks(curves["pool"])
    rows, columns = grid(len(names), 4)
    several = len(names) > 1
    width, height = (style.PANEL_WIDTH, 1.65) if several else (4.2, 2.5)
    fig, axes = style.new_figure(max(width * columns + 0.3, 3.9), height * rows + 0.75, rows, columns, sharex=True)
    panels = panels_of(axes, len(names))
    positive = curves["budget"][curves["budget"] > 0]
    if positive.empty:
        raise NothingToShow(f"suite {suite!r}: OPT is 0 at every budget")
    first, last = int(positive.min()), int(positive.max())
    for i, (ax, name) in enumerate(zip(panels, names, strict=True)):
        of_panel = curves[curves["distribution"] == name]
        for pool, look in looks.items():
            line = of_panel[of_panel["pool"] == pool]
            if len(line):  # none where no curve of the panel is proven
                _opt_steps(ax, line, look, first, last)
        round_budgets_axis(ax, first, last, width - 0.4)
        ax.set_ylim(0, None)
        ax.margins(y=0.08)
        ax.grid(axis="y")
        if several:
            ax.set_title(textwrap.fill(style.prettify(name), 20))
        ax.tick_params(labelbottom=i + columns >= len(names))
        if i + columns >= len(names):
            ax.set_xlabel(BUDGET)
    for row in range(rows):
        panels[row * columns].set_ylabel("Mean value of OPT")
    _pool_legend(fig, looks, marked=curves["budget_spec"].notna().any())
    title(fig, results, suite, "OPT by budget", curves_n_text(curves) + (" a panel" if several else ""))
    note(fig, curves_notes(curves, style.pool_label))
    return fig


def _opt_steps(ax, line: pd.DataFrame, look: style.Look, first: int, last: int) -> None:
    """One pool's mean curve, and its declared budgets as points."""
    x, y = thinned_steps(line["budget"], line["mean_value"], first, last)
    ax.step(x, y, where="post", color=look.colour, linestyle=look.dashes, linewidth=1.1)
    at = line[line["budget_spec"].notna()]
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.4, "zorder": 3, "clip_on": False}
    ax.plot(at["budget"], at["mean_value"], color=look.colour, marker=look.marker, linestyle="", **edge)


def _pool_legend(fig, looks: Mapping[str, style.Look], marked: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=look.colour,
            linestyle=look.dashes,
            marker=look.marker if marked else "",
            label=style.pool_label(pool),
        )
        for pool, look in looks.items()
    ]
    labels = [handle.get_label() for handle in handles]
    fig.legend(handles=handles, loc="outside lower left", ncols=legend_columns(labels, fig.get_figwidth()))


@figure(_scored)
def representation_mix(results: Results, suite: str):
    """Mean number of memories kept of each representation type; one panel a budget."""
    mix = overall(results.of_suite("representation_mix", suite))
    summary = overall(results.of_suite("summary", suite))
    looks = style.type_looks(mix["representation_type"])

    def bars(budget: int) -> pd.DataFrame:
        at = mix[mix["budget"] == budget]
        return at.pivot(index="writer", columns="representation_type", values="mean_count").reindex(columns=list(looks))

    parts = {name: (style.prettify(name), colour, hatch) for name, (colour, hatch) in looks.items()}
    fig = _stacked_bars(results, suite, summary, bars, parts, "Memories kept, mean")
    _title_of_packages(fig, results, suite, "Representation mix", summary)
    return fig


@figure(_scored)
def decomposition(results: Results, suite: str):
    """Required evidence split into retrieved, stored but not retrieved, and not written, with what is beyond all
    candidates apart; a panel a budget."""
    frame = overall(results.of_suite("decomposition", suite)).assign(
        retrieved=lambda f: f["covered"] - f["retrieval_failure_fixed"],
        in_a_candidate=lambda f: (f["write_failure"] - f["beyond_candidates"]).round(12),
    )
    parts = {
        "retrieved": ("stored and retrieved", "#CFE3D8", ""),
        "retrieval_failure_fixed": ("retrieval failure: stored, not retrieved", style.SKY, ""),
        "in_a_candidate": ("write failure: in candidates, not stored", style.VERMILLION, ""),
        "beyond_candidates": ("write failure: beyond all candidates", style.GREY, "////"),
    }

    def bars(budget: int) -> pd.DataFrame:
        return frame[frame["budget"] == budget].set_index("writer")[list(parts)]

    fig = _stacked_bars(results, suite, frame, bars, parts, "Required mass, mean")
    what = "Write and retrieval failure, three most recent memories retrieved"
    summary = overall(results.of_suite("summary", suite))
    apart = [
        "Beyond all candidates: what no candidates, at most k a group, cover of a unit at any budget. What is in "
        "candidates may cost more than B."
    ]
    _title_of_packages(fig, results, suite, what, summary, [*apart, *retrieval_notes(summary)])
    return fig


@figure(_scored_with_roles)
def validity_coverage(results: Results, suite: str):
    """Mean covered mass of current, invalidation and stale units, writers by budgets; a panel a state.

    The panels share one scale, from 0 to the largest mean (at least 1), so that shades compare across them.
    """
    summary = overall(results.of_suite("summary", suite))
    budgets = sorted(summary["budget"].unique())
    rows = rows_of(writers_in(results.info.suite(suite), summary))
    states = {
        "mean_invalidation_covered": "Invalidation",
        "mean_current_covered": "Current state",
        "mean_stale_covered": "Stale state",
    }
    counted = _counted_units(results, suite)
    most = max(1.0, summary[list(states)].to_numpy().max())
    width = max(1.55, 0.4 * len(budgets))
    fig, axes = style.new_figure(1.9 + width * 3, rows.height + 1.45, 1, 3)
    for i, (ax, (column, heading)) in enumerate(zip(axes.flat, states.items(), strict=True)):
        shade, scale = _shades(("Oranges", "Blues", "Greys")[i], summary[column], 0.0, most)
        cells = summary.set_index(["writer", "budget"])[column]
        for x, budget in enumerate(budgets):
            for writer, y in zip(rows.writers, rows.at, strict=True):
                value = cells.get((writer.name, budget))
                if value is None:
                    _cell(ax, x, y, "#F4F4F4", "–")
                else:
                    _cell(ax, x, y, shade(scale(value)), f"{value:.2f}")
        rows.frame(ax, labelled=i == 0)
        ax.set_xlim(-0.5, len(budgets) - 0.5)
        ax.set_xticks(range(len(budgets)), [f"{b:,}" for b in budgets])
        ax.tick_params(axis="x", length=0)
        ax.spines["bottom"].set_visible(False)
        ax.set_xlabel(BUDGET)
        ax.set_title(heading if summary[column].max() > 0 else f"{heading} (none covered)", pad=11)
        role = column.removeprefix("mean_").removesuffix("_covered")
        text = _units_text(summary, role, None if counted is None else counted.get(role, 0))
        ax.annotate(text, (0, 1), xytext=(0, 3), xycoords="axes fraction", textcoords="offset points", fontsize=6.5,
                    color=style.DARK_GREY)  # fmt: skip
    weights = (
        [] if counted is None else ["Of weight: required by a query or weighted by the data; others add nothing to F."]
    )
    _title_of_packages(fig, results, suite, "Covered mass by validity state, mean of a package", summary, weights)
    return fig


def _counted_units(results: Results, suite: str) -> dict[str, int] | None:
    """Units of positive weight by role; None where the suite has no such counts (every synthetic unit has weight)."""
    if "construction" not in results.info.suite(suite).analyses:
        return None
    frame = results.natural("construction", suite)
    return dict(frame[frame["what"] == COUNTED_BY_ROLE][["name", "count"]].itertuples(index=False))


def _units_text(summary: pd.DataFrame, role: str, counted: int | None) -> str:
    """How many units of a role all packages have together (a unit's mass is 1), and how many of them have weight."""
    most = all_packages(summary).nlargest(1, "n").iloc[0]
    units = round(most[f"mean_{role}_mass"] * most["n"])
    return f"{units:,} unit{'' if units == 1 else 's'}" + ("" if counted is None else f", {counted:,} of weight")


@figure(_illustrated)
def package_illustration(results: Results, suite: str):
    """One package: its candidates in time, what they cover, and what the optimum keeps at each budget."""
    return draw_package(results.illustration())


def _title_of_packages(
    fig, results: Results, suite: str, what: str, summary: pd.DataFrame, remarks: Sequence[str] = ()
) -> None:
    """Title and notes where the means are over all packages, with or without a ratio."""
    counted = all_packages(summary)
    title(fig, results, suite, what, n_text(counted))
    note(fig, [*_n_notes(results, suite, counted), *remarks, *opt_zero_notes(summary, NOTHING_FITS)])


def _n_notes(results: Results, suite: str, frame: pd.DataFrame) -> list[str]:
    return n_notes(frame, labeller(results.info.suite(suite)))


def _distributions(results: Results, suite: str, frame: pd.DataFrame) -> list[str]:
    """Distributions of a frame in the configured order, others after them, "all" last."""
    configured = list(results.info.suite(suite).distributions)
    place = {name: i for i, name in enumerate(configured)} | {"all": len(configured) + 1}
    return sorted(set(frame["distribution"]), key=lambda name: (place.get(name, len(configured)), name))


def _stacked_bars(
    results: Results,
    suite: str,
    frame: pd.DataFrame,
    bars: Callable[[int], pd.DataFrame],
    parts: Mapping[str, tuple[str, str, str]],
    quantity: str,
):
    """Horizontal stacked bars, writers as rows, a panel a budget of `frame`.

    bars(budget): writers x parts, no row or NaN where nothing was kept.
    parts: column -> (label, colour, hatch).
    """
    from matplotlib.patches import Patch

    budgets = sorted(frame["budget"].unique())
    rows = rows_of(writers_in(results.info.suite(suite), frame))
    n_rows, columns = grid(len(budgets), 5)
    panel = max(1.05, min(2.2, 5.4 / columns))
    width = 1.85 + panel * columns
    across = legend_columns([text for text, *_ in parts.values()], width)
    height = (rows.height + 0.7) * n_rows + 0.4 + 0.16 * math.ceil(len(parts) / across)
    fig, axes = style.new_figure(width, height, n_rows, columns, sharex=True)
    widest = 0.0
    for i, (ax, budget) in enumerate(zip(panels_of(axes, len(budgets)), budgets, strict=True)):
        table = bars(budget)
        table = table.reindex([w.name for w in rows.writers]).fillna(0.0)
        left = [0.0] * len(table)
        for part, (_, colour, hatch) in parts.items():
            ax.barh(
                rows.at,
                table[part],
                left=left,
                height=0.74,
                color=colour,
                hatch=hatch or None,
                edgecolor="white",
                linewidth=0.4,
            )
            left = [a + b for a, b in zip(left, table[part], strict=True)]
        widest = max(widest, *left)
        rows.frame(ax, labelled=i % columns == 0)
        ax.grid(axis="x")
        ax.set_title(f"B = {budget:,}")
        ax.locator_params(axis="x", nbins=5, steps=[1, 2, 5, 10])
        ax.tick_params(labelbottom=i + columns >= len(budgets))
        middle_of_last_row = len(budgets) - 1 - (len(budgets) - 1) % columns // 2
        if i == middle_of_last_row or (panel > 1.3 and i + columns >= len(budgets)):  # else they would touch
            ax.set_xlabel(quantity)
        ax.axvline(0, color=style.DARK_GREY, linewidth=0.6)
    axes.flat[0].set_xlim(0, widest * 1.04 or 1)
    handles = [Patch(facecolor=c, hatch=h or None, edgecolor="white", label=text) for text, c, h in parts.values()]
    fig.legend(handles=handles, loc="outside lower left", ncols=across)
    return fig


def _shades(name: str, values: pd.Series, low: float | None = None, high: float | None = None):
    """A colour map and the scale into its readable part (neither white nor its darkest end)."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, Normalize

    base = colormaps[name]
    shade = ListedColormap([base(0.04 + 0.82 * i / 255) for i in range(256)])
    least, most = (values.min() if low is None else low), (values.max() if high is None else high)
    return shade, Normalize(least, most if most > least else least + 1)


def _cell(ax, column: float, y: float, fill, text: str) -> None:
    """One coloured cell with its number."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    fill = to_rgba(fill)
    ax.add_patch(Rectangle((column - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white", linewidth=0.7))
    ax.text(column, y, text, ha="center", va="center", fontsize=6.3, color=style.ink_on(fill))


def _column_heads(ax, heads: Sequence[str]) -> None:
    """Column names above a heat map, a word a line; slanted where a word is too long for its column."""
    ax.set_xlim(-0.5, len(heads) - 0.5)
    ax.xaxis.tick_top()
    if max(len(word) for head in heads for word in head.split()) > 11:
        ax.set_xticks(range(len(heads)), heads, rotation=35, ha="left", rotation_mode="anchor", fontsize=6.5)
    else:
        ax.set_xticks(range(len(heads)), [head.replace(" ", "\n") for head in heads], fontsize=6.5)
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)


def _colour_bar(fig, ax, shade, scale, text: str) -> None:
    from matplotlib.cm import ScalarMappable

    bar = fig.colorbar(ScalarMappable(scale, shade), ax=ax, fraction=0.025, pad=0.015, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(text)
    fig.get_layout_engine().set(rect=(0, 0, 0.985, 1))  # it sets the bar's label a little too far right
