"""Do kept memories predict answers? Answers of downstream systems, by how much of what a query requires was kept."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from ..errors import InputError
from ..schemas import ALL_SYSTEMS, DOWNSTREAM
from .bootstrap import mean_interval

# How much of a query's required units a writer covers; ANY: all queries together.
COVERED = ("all", "some", "none", "nothing required")
ANY = "any"
SETTING = ("cost_model", "k", "saturation")
_POINT = [*SETTING, "budget_spec", "budget"]
_COLUMNS = ["query_id", "system", "budget", *SETTING, "correct"]
_TRUE, _FALSE = {"1", "1.0", "true", "yes"}, {"0", "0.0", "false", "no"}
# Budgets are 64-bit integers with room for sums, as in the configuration.
MAX_BUDGET = 2**31 - 1
_Z = 1.959963984540054  # 97.5 percentile of the normal distribution


def wilson(correct: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share (Wilson 1927)."""
    if not 0 <= correct <= n or n < 1:
        raise InputError(f"a share of {correct} in {n} is none; needs 0 <= correct <= n and n >= 1")
    share, z2 = correct / n, _Z * _Z
    centre = share + z2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At the ends the formula gives 0 and 1 exactly; its rounding does not.
    low = 0.0 if correct == 0 else (centre - half) / (1 + z2 / n)
    high = 1.0 if correct == n else (centre + half) / (1 + z2 / n)
    return low, high


def parse_answers(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """Columns query_id, system, budget, cost_model, k, saturation, correct (bool) of a table of downstream answers.

    budget (Int64) null: at any; cost_model, k (Int64), saturation null: in the suite's first setting. `correct` is
    1/true/yes or 0/false/no. Raises InputError naming `where`, the row (1 is the first below the header) and the
    fix on a missing column, an empty or unknown value, or a repeated answer: an answer without a budget is one at
    every budget, so it is the only one of its query, system and setting.
    """
    missing = [c for c in ("query_id", "system", "correct") if c not in table]
    if missing:
        raise InputError(f"{where}: no column {', '.join(missing)}; needs query_id, system and correct")
    rows = []
    for number, row in enumerate(table.to_dict("records"), start=1):
        system = _name(row["system"], "system", where, number)
        if system == ALL_SYSTEMS:
            raise InputError(f"{where}, row {number}: {ALL_SYSTEMS!r} is the name of all together; rename the system")
        rows.append({
            "query_id": _name(row["query_id"], "query_id", where, number),
            "system": system,
            "budget": _whole(row.get("budget"), "budget", where, number),
            "cost_model": _optional_name(row.get("cost_model"), "cost_model", where, number),
            "k": _whole(row.get("k"), "k", where, number),
            "saturation": _optional_name(row.get("saturation"), "saturation", where, number),
            "correct": _correct(row["correct"], where, number),
        })  # fmt: skip
    answers = pd.DataFrame(rows, columns=_COLUMNS).astype({"budget": "Int64", "k": "Int64"})
    _refuse_repeats(answers, where)
    return answers


def _refuse_repeats(answers: pd.DataFrame, where: str) -> None:
    of = ["query_id", "system", *SETTING]
    anywhere = answers["budget"].isna().groupby([answers[c] for c in of], dropna=False).transform("any")
    twice = answers[answers.duplicated([*of, "budget"]) | (anywhere & answers.duplicated(of))]
    if len(twice):
        row = twice.iloc[0]
        raise InputError(
            f"{where}, row {twice.index[0] + 1}: query {row['query_id']} of system {row['system']} is answered "
            f"twice; keep one answer a query, system, setting and budget (one without a budget is for all budgets)"
        )


def _name(value: object, column: str, where: str, number: int) -> str:
    """Text, or a whole number as text."""
    if _is_absent(value) or (isinstance(value, str) and not value.strip()):
        raise InputError(f"{where}, row {number}: {column} is empty; fill it in, or remove the row")
    if isinstance(value, bool | np.bool_) or not isinstance(value, str | int | np.integer):
        raise InputError(f"{where}, row {number}: {column} is {value!r}; write text or a whole number")
    return str(value)


def _is_absent(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _correct(value: object, where: str, number: int) -> bool:
    text = "" if _is_absent(value) else str(value).strip().lower()
    if text not in _TRUE | _FALSE:
        raise InputError(
            f"{where}, row {number}: correct is {text or 'empty'!r}; write 1, true or yes, or 0, false or no"
        )
    return text in _TRUE


def _optional_name(value: object, column: str, where: str, number: int) -> str | None:
    absent = _is_absent(value) or (isinstance(value, str) and not value.strip())
    return None if absent else _name(value, column, where, number).strip()


def _whole(value: object, column: str, where: str, number: int) -> int | None:
    if _is_absent(value) or (isinstance(value, str) and not value.strip()):
        return None
    whole = math.nan
    if isinstance(value, str | int | float | np.number) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):  # told below, with what was read
            whole = float(value)
    if not 1 <= whole <= MAX_BUDGET or whole != int(whole):
        absolute = " (an absolute budget)" if column == "budget" else ""
        raise InputError(
            f"{where}, row {number}: {column} {value!r} is no whole number from 1 to {MAX_BUDGET}{absolute}"
        )
    return int(whole)


def downstream(
    suite: str,
    queries: pd.DataFrame,
    answers: pd.DataFrame,
    writer_of: Mapping[str, str],
    where: str,
    *,
    setting: Mapping,
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Schema DOWNSTREAM: accuracy of each system by what its writer kept, and of all systems together where there
    are several (ALL_SYSTEMS), at every setting and budget that has answers.

    `queries`: schema QUERY_SCORES; `answers`: of `parse_answers`, read from `where`. An answer belongs to the
    setting that it names, else to `setting` (the suite's first): it was given with one store in hand, so it counts
    in no other. An answer with a budget counts there only, one without at each budget, and n_any_budget tells how
    many of the n are such. `writer_of`: system -> writer, where the two are not named alike. covered: all (each
    required unit has coverage >= 1), none (no mass of any), some (else), "nothing required", and "any" for all
    together. Intervals: Wilson's of one system, a bootstrap of whole queries of all. Raises InputError on a system
    without a writer, an unknown query, or a setting or budget not scored.
    """
    answers = answers.assign(writer=[writer_of.get(s, s) for s in answers["system"]])
    for column in SETTING:
        answers[column] = answers[column].fillna(setting[column]).astype(queries[column].dtype)
    _refuse_repeats(answers, where)  # one that names the first setting and one that means it
    _refuse_unknown(suite, queries, answers, where)
    on = ["query_id", "writer", *SETTING]
    joined = queries.merge(answers, on=on, suffixes=("", "_given"), validate="many_to_many")
    given = joined["budget_given"]
    joined = joined[given.isna() | (given == joined["budget"]).fillna(False)]
    joined = joined.assign(covered=_classes(joined))
    count = answers["system"].value_counts()
    rows = []
    for (system, writer, *point), part in joined.groupby(["system", "writer", *_POINT], sort=True):
        head = {"suite": suite, "system": system, "writer": writer, "answers": int(count[system])}
        rows += [head | dict(zip(_POINT, point, strict=True)) | numbers for numbers in _accuracies(part, _wilson_of)]

    def of_queries(own: pd.DataFrame) -> tuple[float, float]:
        values = own["correct"].to_numpy(dtype=np.float64)
        return mean_interval(values, resamples, seed, own["query_id"].to_numpy())[1:]

    for point, part in joined.groupby(_POINT, sort=True) if len(count) > 1 else ():
        head = {"suite": suite, "system": ALL_SYSTEMS, "writer": "", "answers": len(answers)}
        part = part.sort_values(["query_id", "system"])
        rows += [head | dict(zip(_POINT, point, strict=True)) | numbers for numbers in _accuracies(part, of_queries)]
    table = pd.DataFrame(rows, columns=DOWNSTREAM.schema.names)
    return table.sort_values(list(DOWNSTREAM.key), ignore_index=True)


def _refuse_unknown(suite: str, queries: pd.DataFrame, answers: pd.DataFrame, where: str) -> None:
    twice = queries.groupby("query_id")["package_id"].nunique()
    if len(twice) and twice.max() > 1:
        raise InputError(f"suite {suite}: query {twice.idxmax()} stands in several packages; answers name queries")
    for column, known, fix in (
        ("writer", set(queries["writer"]), "name its writer under downstream_systems, or remove the rows"),
        ("query_id", set(queries["query_id"]), "remove the row: unscored queries have no required units"),
        ("budget", set(queries["budget"]), "give an absolute budget of the suite, or leave it empty"),
        *((c, set(queries[c]), "name one of the suite, or leave it empty: its first setting") for c in SETTING),
    ):
        bad = answers[answers[column].notna() & ~answers[column].isin(known)]
        if len(bad):
            row = bad.iloc[0]
            name = f"system {row['system']}: no scored writer {row['writer']!r}"
            what = name if column == "writer" else f"{column} {row[column]} is not of suite {suite}"
            raise InputError(f"{where}, row {bad.index[0] + 1}: {what}; {fix}")
    points = set(queries[[*SETTING, "budget"]].itertuples(index=False, name=None))
    for row in answers.itertuples():
        if not pd.isna(row.budget) and (row.cost_model, row.k, row.saturation, row.budget) not in points:
            raise InputError(
                f"{where}, row {row.Index + 1}: budget {row.budget} is not scored with {row.cost_model} costs, "
                f"k = {row.k}, h = {row.saturation}; name the setting it was given in, or leave the budget empty"
            )


def _classes(joined: pd.DataFrame) -> np.ndarray:
    every = joined["all_covered"].eq(True).to_numpy(dtype=bool)
    nothing, none = (joined["required"] == 0).to_numpy(), (joined["covered"] == 0).to_numpy()
    return np.select([nothing, every, none], ["nothing required", "all", "none"], "some")


def _wilson_of(own: pd.DataFrame) -> tuple[float, float]:
    return wilson(int(own["correct"].sum()), len(own))


def _accuracies(part: pd.DataFrame, interval: Callable[[pd.DataFrame], tuple[float, float]]) -> Iterator[dict]:
    for name in (*COVERED, ANY):
        own = part if name == ANY else part[part["covered"] == name]
        if len(own):
            correct, n = int(own["correct"].sum()), len(own)
            low, high = interval(own)
            yield {
                "covered": name,
                "n": n,
                "correct": correct,
                "accuracy": correct / n,
                "ci_low": low,
                "ci_high": high,
                "n_any_budget": int(own["budget_given"].isna().sum()),
            }
