"""The stores of a suite's examples with what their memories cover: what a union is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, plain, shown
from ..package import Package
from .ingest import Matched, foreign_users, match
from .judge import ROW_LEVEL, Judge, Judged, judge_store
from .labels import (
    DEFAULT_SCOPE,
    UNLABELLED,
    Labels,
    check_coverage,
    check_salience,
    coverage_of,
    refuse_salience_of_another_store,
    salience_of,
    with_salience,
)
from .model import NO_TEXT, Ingest, IngestReport, Store
from .union import Labelled

LABELS = "labels"
_SHOWN_IDS = 5


@dataclass(frozen=True)
class LabelledStores:
    """stores: example -> its store, labelled; reports: how each was read; notes: rows of table `ingest` on examples
    and labels; labels: who says what the memories cover; judged: where a judge does, example -> its word."""

    stores: Mapping[str, Labelled]
    reports: Sequence[IngestReport]
    notes: Sequence[dict[str, Any]]
    labels: str = LABELS
    judged: Mapping[str, Judged] | None = None


def labelled_stores(
    found: Sequence[Ingest],
    package_ids: Iterable[str],
    coverage: Labels,
    salience: Labels | None = None,
    *,
    name: str,
    view: str | None = None,
) -> LabelledStores:
    """The stores that are of a package, labelled; `view`: the view that was read, by which label rows may go.

    Examples without a store, stores of no example, and labels too many or too few become notes. Raises InputError
    naming the store where none is of an example (`ingest.match`), no label is of a memory, a memory has no salience
    where there is a file of it, or no row has a text, and on wrong label rows of whatever example.
    """
    matched = match([one.store for one in found], package_ids, f"store {name}")
    _refuse_without_texts(name, found)
    scope = view or DEFAULT_SCOPE
    rated, notes = _rated(name, matched, salience, scope)
    notes += _unused(name, coverage, "coverage", matched, check_coverage)
    stores, reached = {}, False
    for package_id, store in rated.items():
        covered = coverage_of(store, coverage, scope)
        stores[package_id] = Labelled(store, covered.cells)
        reached |= len(covered.unlabelled) < len({m.memory_id for m in store.memories})
        counts = {
            "cells that stand again": (covered.repeats, None),
            "memories that the store does not hold": (len(covered.stale), _some(covered.stale)),
            UNLABELLED: (len(covered.unlabelled), _some(covered.unlabelled)),
            "cells of views that were not read": (sum(covered.unread.values()), _some(sorted(covered.unread))),
        }
        notes += [_note(name, package_id, "labels", what, *count) for what, count in counts.items()]
    if not reached:
        _refuse_labels_of_another_store(name, stores, coverage)
    notes = [note for note in [*notes, *_match_notes(name, matched)] if note["count"]]
    return LabelledStores(stores, _reports(found, matched), notes)


def judged_stores(
    found: Sequence[Ingest],
    packages: Mapping[str, Package],
    judge: Judge,
    salience: Labels | None = None,
    *,
    name: str,
    view: str | None = None,
) -> LabelledStores:
    """The stores that are of one of `packages` (by id), with what `judge` says that their memories cover.

    Each memory's text is compared with the text of each unit of its example. As `labelled_stores`; InputError also
    where a unit of an example with a store has no text, and where no memory of the export has one.
    """
    matched = match([one.store for one in found], packages, f"store {name}")
    _refuse_without_texts(name, found)
    rated, notes = _rated(name, matched, salience, view or DEFAULT_SCOPE)
    stores, judged = {}, {}
    for package_id, store in rated.items():
        judged[package_id] = own = judge_store(store, packages[package_id], judge)
        stores[package_id] = Labelled(store, own.coverage)
        notes += [_note(name, package_id, "judge", *count, None) for count in _judge_counts(store, own)]
    notes = [note for note in [*notes, *_match_notes(name, matched)] if note["count"]]
    return LabelledStores(stores, _reports(found, matched), notes, judge.name, judged)


def _refuse_without_texts(name: str, found: Sequence[Ingest]) -> None:
    """InputError where rows were skipped for want of a text and no memory is left: the store would be worth 0."""
    without = sum(one.report.skipped.get(NO_TEXT, 0) for one in found)
    if without and not any(one.store.memories for one in found):
        raise InputError(
            f"store {name}: its {without} memories have no text, so there is nothing to score; fill the texts in, or "
            f"read another view"
        )


def _judge_counts(store: Store, judged: Judged) -> Iterator[tuple[str, int]]:
    cells = Counter(ROW_LEVEL[row] for row in judged.rows.values())
    yield "memories", len(store.memories)
    yield "memories that cover nothing", len(store.memories) - len(judged.coverage)
    yield "cells judged 0.5", cells[0.5]
    yield "cells judged 1", cells[1.0]


def _rated(
    name: str, matched: Matched, salience: Labels | None, scope: str
) -> tuple[Mapping[str, Store], list[dict[str, Any]]]:
    """The matched stores with the salience of the file, if there is one, and what it says too much. InputError where it
    leaves out a memory: such a one would never be kept, as if it were known to be of no use."""
    if salience is None:
        return matched.stores, []
    refuse_salience_of_another_store(name, matched.stores, salience, scope)
    rated = {package_id: salience_of(store, salience, scope) for package_id, store in matched.stores.items()}
    lacking = [f"{_memory(*key)} of example {plain(i)}" for i, one in rated.items() for key in one.unrated]
    if lacking:
        everything = sum(len(store.memories) for store in matched.stores.values())
        raise InputError(
            f"{salience.where}: {len(lacking)} of {everything} memories of store {name} have no salience: "
            f"{_some(lacking)}; give each a score (0: of no use), or leave the file out"
        )
    notes = []
    for package_id, one in rated.items():
        counts = {
            "scores that stand again": (one.repeats, None),
            "scores of memories that the store does not hold": (len(one.stale), _some(one.stale)),
            "scores of views that were not read": (sum(one.unread.values()), _some(sorted(one.unread))),
        }
        notes += [_note(name, package_id, "labels", what, *count) for what, count in counts.items()]
    notes += _unused(name, salience, "salience", matched, check_salience)
    return {i: with_salience(store, rated[i]) for i, store in matched.stores.items()}, notes


def _memory(memory_id: str, view: str) -> str:
    return f"{memory_id} ({view})" if view else memory_id


def _unused(
    name: str, given: Labels, what: str, matched: Matched, check: Callable[[Labels, str], None]
) -> list[dict[str, Any]]:
    """Notes on label rows of examples that have no store, or are not of the package; `check`: such rows, as all are."""
    without, outside = [], []
    for instance_id in sorted(given.rows.keys() - matched.stores.keys()):
        check(given, instance_id)
        (without if instance_id in matched.without else outside).append(instance_id)
    return [
        _note(name, "", "labels", f"{what} rows of an example without a store", len(without), _some(without)),
        _note(name, "", "labels", f"{what} rows of no example", len(outside), _some(outside)),
    ]


def _match_notes(name: str, matched: Matched) -> Iterator[dict[str, Any]]:
    for package_id, store in matched.stores.items():
        users = foreign_users(store, (*matched.stores, *matched.without))
        told = _some([f"{plain(user)}: {count}" for user, count in users.items()])
        yield _note(name, package_id, "warning", "memories of another example's user_id", sum(users.values()), told)
    yield _note(name, "", "package", "example without a store", len(matched.without), _some(matched.without))
    yield _note(name, "", "package", "store of no example", len(matched.unknown), _some(matched.unknown))


def _reports(found: Sequence[Ingest], matched: Matched) -> list[IngestReport]:
    """How each store of an example was read."""
    reports = [replace(one.report, instance_id=_id_of(one, matched.stores)) for one in found]
    return [report for report in reports if report.instance_id in matched.stores]


def _refuse_labels_of_another_store(name: str, stores: Mapping[str, Labelled], coverage: Labels) -> None:
    """InputError where there are memories, none of which a label reaches: the store would be worth 0 without a word."""
    memories = [m.memory_id for one in stores.values() for m in one.store.memories]
    rows = [row for package_id in stores for _, row in coverage.rows.get(package_id, ())]
    edges = [edge for row in rows for edge in row["coverage_edges"]]
    labelled = sorted({str(edge["memory_id"]) for edge in edges})
    if set(labelled) & set(memories):
        raise InputError(
            f"{coverage.where}: its rows are of other views of store {name} than the one that is read; read the view "
            f"that was labelled, or label this one"
        )
    if memories:
        held = ", ".join(map(plain, sorted(memories)[:_SHOWN_IDS]))
        raise InputError(
            f"{coverage.where}: no row is of a memory of store {name}; it labels {_some(labelled) or 'nothing'}, and "
            f"the store holds {held}: give the labels of this export (a row that covers nothing needs coverage 0)"
        )


def _id_of(one: Ingest, stores: Mapping[str, Any]) -> str | None:
    """The example of a store; one that names none was taken for the only one (`match`)."""
    return next(iter(stores)) if one.store.instance_id is None else one.store.instance_id


def _note(store: str, instance_id: str, what: str, name: str, count: int, detail: str | None) -> dict[str, Any]:
    return {"store": store, "instance_id": instance_id, "what": what, "name": name, "count": count, "detail": detail}


def _some(ids: Sequence[str]) -> str | None:
    if not ids:
        return None
    more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
    return ", ".join(map(plain, ids[:_SHOWN_IDS])) + more


def refuse_strange_units(labelled: LabelledStores, units: Mapping[str, Iterable[str]], name: str) -> None:
    """InputError where a label names a unit that its example does not have: it is of another package.

    units: example -> ids of its units.
    """
    for package_id, one in labelled.stores.items():
        own = set(units[package_id])
        for (memory_id, _), row in one.coverage.items():
            strange = sorted(set(row) - own)
            if strange:
                raise InputError(
                    f"store {name}, example {plain(package_id)}: the coverage of memory {plain(memory_id)} names unit "
                    f"{shown(strange[0])}, which the example does not have; the labels are of another package"
                )
