"""The picture of one package: candidates in time, what they cover, what the optimum keeps at each budget."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from ..errors import InputError
from . import style
from .results import Illustration

MOST_GROUPS, MOST_CANDIDATES = 14, 12
# Inches.
_LEFT, _RIGHT, _BOX, _GAP, _HEAD, _LEGEND = 0.62, 0.9, 0.27, 0.045, 0.56, 0.3
_CHARACTER = 0.049  # mean width of a letter at 6.2 points
_ROLES = ("current", "invalidation", "stale", "")


@dataclass(frozen=True)
class _Box:
    """A candidate: its text, cost, and the weighted coverage it gives to units of each role."""

    text: str
    cost: int
    roles: Mapping[str, float]


def draw_package(package: Illustration):
    """The figure; InputError where the package has nothing to draw or is too large to be read."""
    groups = _groups(package.candidates)
    boxes = _boxes(package)
    where = f"illustration of package {package.package_id}"
    if not groups or package.solutions.empty:
        raise InputError(f"{where}: it has no candidates or no solutions; name a package of a solved suite")
    tallest = max(map(len, groups.values()))
    if len(groups) > MOST_GROUPS or tallest > MOST_CANDIDATES:
        raise InputError(
            f"{where}: {len(groups)} groups of up to {tallest} candidates are too many to read; "
            f"name a package of at most {MOST_GROUPS} groups of at most {MOST_CANDIDATES}"
        )
    kept = _kept(package)
    column = min(1.25, max(0.8, (style.PAGE_WIDTH - _LEFT - _RIGHT) / len(groups)))
    step = _BOX + _GAP
    row_heights = [step * max(_most_in_group(groups, kept[b]), 1) + 0.09 for b in kept]
    width = _LEFT + column * len(groups) + _RIGHT
    height = 0.36 + _HEAD + step * tallest + 0.34 + sum(row_heights) + _LEGEND + 0.05
    ax = _canvas(width, height)

    y = height - 0.16
    ax.text(0.08, y, f"Package {package.package_id}", fontsize=8.5, va="center")
    y -= 0.36
    _time_axis(ax, package.candidates, groups, column, y)
    y -= _HEAD - 0.16
    ax.text(0.08, y - _BOX / 2, "candi-\ndates", fontsize=7, fontweight="bold", va="center")
    for g, members in enumerate(groups.values()):
        for row, candidate in enumerate(members):
            _draw_box(ax, boxes[candidate], _LEFT + g * column, y - row * step, column)
    y -= step * tallest + 0.09
    ax.plot([0.08, width - 0.08], [y, y], color=style.DARK_GREY, linewidth=0.6)
    ax.text(0.08, y - 0.09, "kept by OPT", fontsize=7, fontweight="bold", va="center")
    y -= 0.22
    for solution, row_height in zip(package.solutions.sort_values("budget").itertuples(), row_heights, strict=True):
        _draw_row(ax, solution, groups, boxes, kept[solution.budget], y, row_height, column, width)
        y -= row_height
    _legend(ax, boxes.values())
    return ax.figure


def _groups(candidates: pd.DataFrame) -> dict[str, list[str]]:
    """group -> candidates, both in package order (protocol, "Edge cases")."""
    first = candidates.groupby("group_id")["time_index"].min()
    order = candidates.assign(first=candidates["group_id"].map(first)).sort_values(
        ["first", "group_id", "cost", "candidate_id"]
    )
    groups: dict[str, list[str]] = {}
    for group, candidate in zip(order["group_id"], order["candidate_id"], strict=True):
        groups.setdefault(group, []).append(candidate)
    return groups


def _boxes(package: Illustration) -> dict[str, _Box]:
    role = dict(zip(package.units["unit_id"], package.units["role"], strict=True))
    weight = dict(zip(package.units["unit_id"], package.units["weight"], strict=True))
    covered: dict[str, dict[str, float]] = {c: {} for c in package.candidates["candidate_id"]}
    for cell in package.coverage.itertuples():
        mass = covered[cell.candidate_id]
        mass[role[cell.unit_id]] = mass.get(role[cell.unit_id], 0.0) + weight[cell.unit_id] * cell.coverage
    return {
        c.candidate_id: _Box(c.representation_type.replace("_", " "), int(c.cost), covered[c.candidate_id])
        for c in package.candidates.itertuples()
    }


def _kept(package: Illustration) -> dict[int, set[str]]:
    """budget -> what is kept, for every solved budget in order; InputError on an unknown candidate."""
    kept: dict[int, set[str]] = {int(b): set() for b in sorted(package.solutions["budget"])}
    known = set(package.candidates["candidate_id"])
    for row in package.selections.itertuples():
        if row.budget not in kept or row.candidate_id not in known:
            raise InputError(
                f"illustration of package {package.package_id}: {row.candidate_id} is selected at budget "
                f"{row.budget}, and one of the two is unknown; solve the suite again"
            )
        kept[row.budget].add(row.candidate_id)
    return kept


def _most_in_group(groups: Mapping[str, list[str]], kept: set[str]) -> int:
    return max(len(kept.intersection(members)) for members in groups.values())


def _canvas(width: float, height: float):
    """Axes over the whole figure whose unit is the inch."""
    fig, _ = style.new_figure(width, height)
    fig.set_layout_engine("none")
    ax = fig.axes[0]
    ax.set_position([0, 0, 1, 1])
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.axis("off")
    return ax


def _time_axis(ax, candidates: pd.DataFrame, groups: Mapping[str, list[str]], column: float, y: float) -> None:
    """An arrow through the groups with their time indexes and names."""
    end = _LEFT + column * len(groups)
    ax.text(0.08, y, "time", fontsize=7, fontweight="bold", va="center")
    ax.annotate(
        "",
        (end + 0.12, y),
        xytext=(_LEFT, y),
        arrowprops={"arrowstyle": "->", "color": style.DARK_GREY, "lw": 0.8},
    )
    first = candidates.groupby("group_id")["time_index"].min()
    names = _short_names(groups)
    for g, group in enumerate(groups):
        x = _LEFT + (g + 0.5) * column
        ax.plot([x], [y], marker="o", markersize=4, color=style.DARK_GREY)
        ax.text(x, y + 0.1, f"t = {first[group]}", fontsize=6.2, ha="center", va="bottom", color=style.DARK_GREY)
        ax.text(
            x,
            y - 0.09,
            _fit(names[group], column - 0.04),
            fontsize=6.2,
            ha="center",
            va="top",
            linespacing=1.05,
        )


def _short_names(groups: Iterable[str]) -> dict[str, str]:
    """Group ids without what all of them start with."""
    groups = list(groups)
    first, last = min(groups), max(groups)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    common = first[:same] if len(groups) > 1 else ""
    cut = max(common.rfind("_"), common.rfind(":")) + 1
    return {group: group[cut:].replace("_", " ") for group in groups}


def _fit(text: str, inches: float) -> str:
    """The text in at most two lines of about `inches`, shortened where it does not fit."""
    return "\n".join(textwrap.wrap(text, max(4, int(inches / _CHARACTER)), max_lines=2, placeholder="…"))


def _draw_box(ax, box: _Box, x: float, top: float, column: float) -> None:
    """A candidate: strips coloured by role, as wide as its weighted coverage; type; beside them the cost."""
    from matplotlib.patches import Rectangle

    left, width, bottom = x + 0.03, column - 0.06, top - _BOX
    total = sum(box.roles.values())
    digits = 0.07 + 0.055 * len(str(box.cost))
    start = left
    for role in _ROLES:
        if box.roles.get(role, 0.0) > 0:
            share = (width - digits) * box.roles[role] / total
            ax.add_patch(Rectangle((start, bottom), share, _BOX, facecolor=style.ROLE_COLOURS[role], linewidth=0))
            start += share
    ax.add_patch(Rectangle((left, bottom), width, _BOX, fill=False, edgecolor=style.DARK_GREY, linewidth=0.5))
    ax.text(
        left + 0.035,
        top - _BOX / 2,
        _fit(box.text, width - digits - 0.05),
        fontsize=6.2,
        va="center",
        linespacing=0.95,
    )
    ax.add_patch(
        Rectangle(
            (left + width - digits, bottom),
            digits,
            _BOX,
            facecolor="white",
            edgecolor=style.DARK_GREY,
            linewidth=0.5,
        )
    )
    ax.text(
        left + width - digits / 2,
        top - _BOX / 2,
        str(box.cost),
        fontsize=6.6,
        fontweight="bold",
        ha="center",
        va="center",
    )


def _draw_row(ax, solution, groups, boxes, kept: set[str], y: float, row_height: float, column: float, width: float):
    """What is kept at one budget, group by group; a dot where a group gives nothing."""
    middle = y - (row_height - 0.09 - _GAP) / 2
    ax.text(0.08, middle, f"B = {solution.budget:,}", fontsize=7, va="center")
    for g, members in enumerate(groups.values()):
        chosen = [c for c in members if c in kept]
        for row, candidate in enumerate(chosen):
            _draw_box(ax, boxes[candidate], _LEFT + g * column, y - row * (_BOX + _GAP), column)
        if not chosen:
            ax.plot([_LEFT + (g + 0.5) * column], [middle], marker="o", markersize=2, color=style.GREY)
    proven = "" if solution.status in ("optimal", "cross_checked") else ", not proven"
    ax.text(
        _LEFT + column * len(groups) + 0.1,
        middle,
        f"F = {solution.value:.2f}{proven}\ncost {solution.cost}",
        fontsize=7,
        va="center",
        linespacing=1.15,
    )


def _legend(ax, boxes: Iterable[_Box]) -> None:
    """The roles that occur, and what the number in a box is."""
    from matplotlib.patches import Rectangle

    present = [role for role in _ROLES if any(box.roles.get(role, 0.0) > 0 for box in boxes)]
    x, y = 0.08, 0.17

    def write(text: str) -> float:
        ax.text(x, y, text, fontsize=6.5, va="center")
        return x + 0.0505 * len(text) + 0.1

    x = write("Evidence covered:")
    for role in present:
        ax.add_patch(
            Rectangle(
                (x, y - 0.055),
                0.16,
                0.11,
                facecolor=style.ROLE_COLOURS[role],
                edgecolor=style.DARK_GREY,
                linewidth=0.4,
            )
        )
        x += 0.21
        x = write(style.ROLE_LABELS[role])
    x += 0.15
    write("Number: storage cost")
