"""The label sources of a suite, from its tables, the files of a cell audit, and suites it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .analysis.agreement import Source, package_source, sources_of
from .errors import InputError
from .natural.audit_io import load_audit
from .package import Package
from .package_io import read_packages
from .table_io import read_table


def read_sources(
    packages: Sequence[Package], labels: str | Path, audit: Sequence[str] = (), others: Iterable[str | Path] = ()
) -> list[Source]:
    """Sources over the cells of `packages`: their own first (`agreement.sources_of`), then each labeller of the
    audit, then each suite of `others` (folders of package tables) as "suite {name}".

    `labels`: the suite's table of labels; `audit`: files of `audit_io.audit_files`. Raises InputError on an
    audit or suite that has no cell of these packages, and on an audited cell that they do not have.
    """
    external = [Source(name, values) for name, values in load_audit(list(audit)).items()] if audit else []
    for source in external:
        _refuse_unknown_cells(Path(audit[0]).parent, source, packages)
    for folder in others:
        name = Path(folder).name
        source = package_source(read_packages(folder), f"suite {name}").restricted(packages)
        if not source.whole:
            raise InputError(f"suite {name} has none of the packages it is compared with; remove it from compare_with")
        external.append(source)
    return sources_of(packages, read_table(labels, "labels").to_pandas(), external)


def _refuse_unknown_cells(folder: Path, source: Source, packages: Sequence[Package]) -> None:
    """A label of a cell that no package has is of another package."""
    unknown = source.values.keys() - source.restricted(packages).values.keys()
    if unknown:
        raise InputError(
            f"{folder}: {source.name} labels {len(unknown)} cells that no scored package has, the first "
            f"{min(unknown)}; audit the package that the suite is made of, or remove them"
        )
