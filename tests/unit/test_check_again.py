"""What the check computes a second time agrees with the first: hashes, built-in definitions, worth of selections."""

from fractions import Fraction

from check_cases import DEFINITIONS
from hypothesis import given
from hypothesis import strategies as st

from memaudit import costs, objective, pools
from memaudit.analysis.scores import score_rows
from memaudit.check.certify import Problems, define
from memaudit.check.identity import content_hash, instance_hash
from memaudit.check.packages_io import read_suite
from memaudit.check.plan import BUILT_IN
from memaudit.check.rows import read_rows
from memaudit.check.worth import COLUMNS, Meter
from memaudit.package_io import package_tables, write_packages
from memaudit.pools import Pool
from strategies import packages
from strategies import saturations as any_saturation

ALL = {"include": None, "exclude": []}
SHAPES = {"half": DEFINITIONS["steep"], "two": DEFINITIONS["two"], "cap1": "cap1", "linear": "linear"}


def rows_of(package):
    tables = package_tables([package], suite=package.suite, label_source="test")
    return read_rows(tables, {package.package_id})


def problem_of(package, saturation, pool=ALL, k=1):
    problems = Problems(rows_of(package), define({"p": pool}, SHAPES, {"declared": "declared"}))
    row = {"package_id": package.package_id, "cost_model": "declared", "pool": "p", "k": k, "saturation": saturation}
    return problems.of(row)[0]


@given(packages())
def test_the_content_hash(package):
    assert content_hash(rows_of(package)[package.package_id]) == package.content_hash


@given(packages(), any_saturation(), st.sampled_from(sorted(BUILT_IN["pools"])))
def test_the_instance_hash(package, saturation, pool):
    restricted = pools.BUILT_IN[pool](package)
    expected = objective.scale(restricted, saturation).hash
    assert instance_hash(problem_of(package, saturation.name, BUILT_IN["pools"][pool]).scaled) == expected


def test_the_built_in_definitions():
    made = {
        name: Pool(name, d["include"] and tuple(d["include"]), tuple(d["exclude"]))
        for name, d in BUILT_IN["pools"].items()
    }
    assert made == pools.BUILT_IN
    assert set(BUILT_IN["saturations"]) == set(objective.BUILT_IN)
    assert set(BUILT_IN["cost_models"]) == {costs.DECLARED, *costs.BUILT_IN}


@given(st.data(), packages(), any_saturation())
def test_the_worth_of_a_selection(data, package, saturation):
    chosen = sorted(data.draw(st.sets(st.integers(0, len(package) - 1)))) if len(package) else []
    instance = objective.scale(package, saturation)
    budget = max(1, package.total_cost)
    best = instance.value_int(range(len(package)))
    (scores, _) = score_rows(
        [package], [instance], [chosen], writer="w", pool="full", cost_model="declared", k=1,
        saturation=saturation.name, budget_spec=str(budget), budget=budget,
        opt={package.package_id: (best, instance.scale, "optimal")},
    )  # fmt: skip
    required = {q.query_id: list(q.required) for q in package.queries if q.required}
    meter = Meter(rows_of(package)[package.package_id], problem_of(package, saturation.name), required)
    worth = meter.of(tuple(chosen))
    assert worth.value == Fraction(scores["value_int"][0], scores["scale"][0])
    assert dict(zip(COLUMNS, worth.columns, strict=True)) == {c: scores[c][0] for c in COLUMNS}


@given(packages())
def test_a_suite_is_read_back_without_faults(tmp_path_factory, package):
    folder = tmp_path_factory.mktemp("suite")
    write_packages(folder, package_tables([package], suite=package.suite, label_source="test"))
    made, faults = read_suite(folder, package.suite, None)
    assert faults == []
    assert made.mean_total_cost("declared") == package.total_cost
    assert made.budget("0.5", "declared") == max(1, round(Fraction(package.total_cost, 2)))
    assert made.budget("7", "declared") == 7
