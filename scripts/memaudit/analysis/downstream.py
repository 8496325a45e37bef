"""Do kept memories predict answers? Answers of downstream systems, by how much of what a query requires was kept."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from ..errors import InputError
from ..schemas import DOWNSTREAM

# How much of a query's required units a writer covers; ANY: all queries together.
COVERED = ("all", "some", "none", "nothing required")
ANY = "any"
_SETTING = ["cost_model", "k", "saturation", "budget_spec", "budget"]
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
    """Columns query_id, system, budget (Int64, null: any), correct (bool) of a table of downstream answers.

    `correct` is 1/true/yes or 0/false/no. Raises InputError naming `where`, the row (1 is the first below the
    header) and the fix on a missing column, an empty or unknown value, or a repeated answer: an answer without a
    budget is one at every budget, so it is the only one of its query and system.
    """
    missing = [c for c in ("query_id", "system", "correct") if c not in table]
    if missing:
        raise InputError(f"{where}: no column {', '.join(missing)}; needs query_id, system and correct")
    rows = []
    for number, row in enumerate(table.to_dict("records"), start=1):
        rows.append({
            "query_id": _name(row["query_id"], "query_id", where, number),
            "system": _name(row["system"], "system", where, number),
            "budget": _budget(row.get("budget"), where, number),
            "correct": _correct(row["correct"], where, number),
        })  # fmt: skip
    answers = pd.DataFrame(rows, columns=["query_id", "system", "budget", "correct"]).astype({"budget": "Int64"})
    _refuse_repeats(answers, where)
    return answers


def _refuse_repeats(answers: pd.DataFrame, where: str) -> None:
    of = ["query_id", "system"]
    anywhere = answers["budget"].isna().groupby([answers[c] for c in of]).transform("any")
    twice = answers[answers.duplicated([*of, "budget"]) | (anywhere & answers.duplicated(of))]
    if len(twice):
        row = twice.iloc[0]
        raise InputError(
            f"{where}, row {twice.index[0] + 1}: query {row['query_id']} of system {row['system']} is answered "
            f"twice; keep one answer a query, system and budget (one without a budget is for all budgets)"
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


def _budget(value: object, where: str, number: int) -> int | None:
    if _is_absent(value) or (isinstance(value, str) and not value.strip()):
        return None
    budget = math.nan
    if isinstance(value, str | int | float | np.number) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):  # told below, with what was read
            budget = float(value)
    if not 1 <= budget <= MAX_BUDGET or budget != int(budget):
        raise InputError(
            f"{where}, row {number}: budget {value!r} is no whole number from 1 to {MAX_BUDGET} (an absolute budget)"
        )
    return int(budget)


def downstream(
    suite: str, queries: pd.DataFrame, answers: pd.DataFrame, writer_of: Mapping[str, str], where: str
) -> pd.DataFrame:
    """Schema DOWNSTREAM: accuracy of each system by what its writer kept, at every setting and budget.

    `queries`: schema QUERY_SCORES; `answers`: of `parse_answers`, read from `where`; an answer with a budget
    counts there only. `writer_of`: system -> writer, where the two are not named alike. covered: all (each
    required unit has coverage >= 1), none (no mass of any), some (else), "nothing required", and "any" for
    all together. Raises InputError on a system without a writer, an unknown query, or a budget not scored.
    """
    answers = answers.assign(writer=[writer_of.get(s, s) for s in answers["system"]])
    _refuse_unknown(suite, queries, answers, where)
    joined = queries.merge(answers, on=["query_id", "writer"], suffixes=("", "_given"), validate="many_to_many")
    given = joined["budget_given"]
    joined = joined[given.isna() | (given == joined["budget"]).fillna(False)]
    joined = joined.assign(covered=_classes(joined))
    rows = []
    for (system, writer, *setting), part in joined.groupby(["system", "writer", *_SETTING], sort=True):
        head = {"suite": suite, "system": system, "writer": writer, **dict(zip(_SETTING, setting, strict=True))}
        rows += [head | numbers for numbers in _accuracies(part)]
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
    ):
        bad = answers[answers[column].notna() & ~answers[column].isin(known)]
        if len(bad):
            row = bad.iloc[0]
            name = f"system {row['system']}: no scored writer {row['writer']!r}"
            what = name if column == "writer" else f"{column} {row[column]} is not of suite {suite}"
            raise InputError(f"{where}, row {bad.index[0] + 1}: {what}; {fix}")


def _classes(joined: pd.DataFrame) -> np.ndarray:
    every = joined["all_covered"].eq(True).to_numpy(dtype=bool)
    nothing, none = (joined["required"] == 0).to_numpy(), (joined["covered"] == 0).to_numpy()
    return np.select([nothing, every, none], ["nothing required", "all", "none"], "some")


def _accuracies(part: pd.DataFrame) -> Iterator[dict]:
    for name in (*COVERED, ANY):
        own = part["correct"] if name == ANY else part.loc[part["covered"] == name, "correct"]
        if len(own):
            correct, n = int(own.sum()), len(own)
            low, high = wilson(correct, n)
            yield {"covered": name, "n": n, "correct": correct, "accuracy": correct / n, "ci_low": low, "ci_high": high}
