"""Rule score_store: an exported store pruned to every budget of a setting, under every denominator, with its losses."""

from pathlib import Path

import pyarrow.compute as pc

from job import log_to
from memaudit.analysis.store_scores import Solved, case, score_store, usable_rules
from memaudit.budgets import amounts, mean_total_cost
from memaudit.package_io import read_packages
from memaudit.problem import read_problem
from memaudit.solve.results import merged_status, optimum_of, selected_ids
from memaudit.solve.stage import recost
from memaudit.stage_io import stage_metadata
from memaudit.stores.tables_io import read_labelled
from memaudit.stores.unions import cost_function
from memaudit.table_io import expect, read_all, write_table

log_to(snakemake.log)
w, params, given = snakemake.wildcards, snakemake.params, snakemake.input
problem = read_problem(params.setting)
saturation = problem.saturations[w.saturation]
point = {"cost_model": w.cost_model, "k": int(w.k), "saturation": w.saturation}


def recosted(files):
    packages = read_packages(Path(files[0]).parent)
    return recost(packages, w.cost_model, problem.cost_parameters[w.cost_model])


def of_budgets(suite, kind):
    """Budget -> (optima, chosen candidates) of the full pool, by package."""
    files = {name: given[f"{kind}_{name}"] for name in ("solutions", "selections", "checks")}
    if not files["solutions"]:
        return {}
    tables = {"solutions": "solutions", "selections": "solution_selections", "checks": "checks"}
    read = {name: read_all(table, files[name]) for name, table in tables.items()}
    for name, table in read.items():
        expect(table, files[name][0], suite=suite, **point)
    solved = merged_status(read["solutions"], read["checks"])
    out = {}
    for budget in budgets:
        here, kept = (t.filter(pc.equal(t["budget"], budget)) for t in (solved, read["selections"]))
        chosen = {package: ids for (pool, package), ids in selected_ids(kept).items() if pool == "full"}
        out[budget] = (optimum_of(here, "full"), chosen)
    return out


packages = recosted(given.packages)
budgets = amounts(params.budgets, mean_total_cost(packages))
by_id = {p.package_id: p for p in packages}
stores = read_labelled(Path(given.stores[0]).parent)
cost = cost_function(params.memory_cost)
cases = [case(u, by_id[u.package_id], stores[u.package_id], cost) for u in recosted(given.unions)]
suite, union = params.suite, params.union
package, both, alone = of_budgets(suite, "package"), of_budgets(union, "union"), of_budgets(f"{union}+alone", "alone")
joint = of_budgets(f"{suite}+joint", "joint")
solved = {
    b: Solved(package[b][0], both[b][0], alone[b][0], joint[b][0] if joint else None, both[b][1], alone[b][1])
    for b in budgets
}
rules = usable_rules(list(stores.values()), params.rules, f"store {w.store}")
constants = {"suite": suite, "store": w.store, **point}
made = score_store(cases, rules, solved, constants, budgets, saturation, params.labels)
metadata = stage_metadata(given, params)
for table, frame in (
    ("store_scores", made.scores),
    ("store_selections", made.selections),
    ("store_losses", made.losses),
    ("store_lost_units", made.lost),
):
    write_table(snakemake.output[table.removeprefix("store_")], table, frame, metadata)
print(f"{len(cases)} stores by {', '.join(rules)} at {len(budgets)} budgets")
