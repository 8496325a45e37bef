# Exported memory stores: read once, joined with a suite's packages to unions, which are solved and checked as any
# suite's packages are; then pruned to every budget and compared with these optima.

from memaudit.analysis.store_scores import NEEDS
from memaudit.schemas import STORE_TABLES
from memaudit.stores.judge_io import judge_hash
from memaudit.stores.judge_verdict import DRAWS
from memaudit.stores.ingest_io import COVERAGE, SALIENCE, label_file_beside, store_files
from memaudit.stores.tables_io import JUDGE_FILES, STORE_FILES

STORE_SCORES = ["scores", "selections", "losses", "lost_units"]
STORE_SETTING = "{store}/{cost_model}/k{k}.{saturation}"
ANY_UNION = r"[^/+]+\+[^/]+"
# Stores whose coverage a judge says, and the others, as patterns of their names.
JUDGED = [name for name, store in CONFIG.stores.items() if store.judge]
ONLY_JUDGED = "|".join(map(re.escape, JUDGED)) or "(?!)"
ONLY_LABELLED = "|".join(re.escape(name) for name in CONFIG.stores if name not in JUDGED) or "(?!)"


def store_tables(store):
    return [f"{OUT}/stores/{store}/{name}.parquet" for name in STORE_FILES]


def judge_tables(store):
    """What the judge said of a store; none where it has labels."""
    return [f"{OUT}/stores/{store}/{name}.parquet" for name in JUDGE_FILES if store in JUDGED]


def union_files(union, stage, kind="solutions", cost_model=None):
    """Solutions (kind: solutions, selections) or checks of a union, of all its settings or those of one cost model."""
    entry = UNIONS[union]
    solvers = CONFIG.suites[entry.suite].solvers
    return [
        f"{OUT}/{stage}/{union}/{s.cost_model}/k{s.k}.{s.saturation}/{STANDARD}.0.{last}.parquet"
        for s in CONFIG.union_settings(entry)
        if cost_model in (None, s.cost_model)
        for last in (solvers if stage == "checks" else [kind])
    ]


def of_store(store):
    """The union of one store alone with its suite."""
    return f"{CONFIG.stores[store].suite}+{store}"


def score_of_store(store, kind):
    union = UNIONS[of_store(store)]
    settings = [f"{s.cost_model}/k{s.k}.{s.saturation}" for s in CONFIG.union_settings(union)]
    return [f"{OUT}/stores/{store}/{setting}/{kind}.parquet" for setting in settings]


def verdicts_of_store(store):
    return score_of_store(store, "verdicts") if store in JUDGED else []


def store_results():
    """Everything that stores bring, but tables and figures."""
    stores = [store for suite in SUITES for store in CONFIG.suite_stores(suite)]
    files = [f for store in stores for f in store_tables(store)]
    files += [f for store in stores for kind in STORE_SCORES for f in score_of_store(store, kind)]
    files += [f for store in stores for f in judge_tables(store) + verdicts_of_store(store)]
    files += [f for store in stores if store in JUDGED for f in score_of_store(store, "draws")]
    for union in UNIONS:
        files += suite_packages(union) + union_files(union, "checks")
        files += union_files(union, "solutions") + union_files(union, "solutions", "selections")
    return files


def solved_at(kind, which):
    """Input function: files of kind solutions, selections or checks of a store's suite, union, its store alone, or the
    joint union of its suite (none where the store is in no comparison, or another has no cost in this setting)."""

    def files(w):
        suite = CONFIG.stores[w.store].suite
        union = {"package": suite, "union": of_store(w.store), "alone": f"{of_store(w.store)}+alone"}.get(which)
        if which == "joint":
            union = f"{suite}+joint"
            joint = UNIONS.get(union)
            costed = [] if joint is None else [s.cost_model for s in CONFIG.union_settings(joint)]
            if joint is None or w.store not in joint.stores or w.cost_model not in costed:
                return []
        setting = f"{union}/{w.cost_model}/k{w.k}.{w.saturation}/{STANDARD}.0"
        if kind == "checks":
            return [f"{OUT}/checks/{setting}.{solver}.parquet" for solver in CONFIG.suites[suite].solvers]
        return [f"{OUT}/solutions/{setting}.{kind}.parquet"]

    return files


def suite_packages(suite, tables=PACKAGE_TABLES):
    return [f"{OUT}/packages/{suite}/{table}.parquet" for table in tables]


def labels_beside(entry):
    """Label files in the export's folder that the configuration does not name."""
    names = [name for name, own in ((COVERAGE, entry.coverage or entry.judge), (SALIENCE, entry.salience)) if not own]
    return [str(f) for name in names if (f := label_file_beside(entry.path, name))]


def ordering_rules(store):
    """The rules of a store that order by what its export may lack. Other rules do not make it be read again."""
    return [rule for rule in CONFIG.stores[store].rules or () if rule in NEEDS]


def union_setting(wildcards):
    settings = CONFIG.union_settings(UNIONS[wildcards.suite])
    return the_setting(settings, wildcards)


def setting_of_store(wildcards):
    return the_setting(CONFIG.union_settings(UNIONS[of_store(wildcards.store)]), wildcards)


def the_setting(settings, wildcards):
    wanted = (wildcards.cost_model, wildcards.k, wildcards.saturation)
    return next(s for s in settings if (s.cost_model, str(s.k), s.saturation) == wanted)


def memory_cost_at(store, cost_model):
    """The definition of what memories cost under a cost model of the suite."""
    own = CONFIG.stores[store].memory_cost if cost_model == "declared" else cost_model
    return CONFIG.cost_model_part(own)


def shown_of_store(store):
    entry, union = CONFIG.stores[store], UNIONS[of_store(store)]
    costs = {s.cost_model: memory_cost_at(store, s.cost_model) for s in CONFIG.union_settings(union)}
    return {
        "memory_cost": entry.memory_cost or "",
        "skip_empty": entry.skip_empty,
        "labels": entry.judge or "labels",
        "demonstration": entry.demonstration,
        "costs": costs,
    }


rule ingest_store:
    input:
        export=lambda w: store_files(CONFIG.stores[w.store].path),
        parts=lambda w: list(CONFIG.stores[w.store].parts.values()),
        labels=lambda w: [f for f in (CONFIG.stores[w.store].coverage, CONFIG.stores[w.store].salience) if f]
        + labels_beside(CONFIG.stores[w.store]),
        packages=lambda w: f"{OUT}/packages/{CONFIG.stores[w.store].suite}/packages.parquet",
        units=lambda w: f"{OUT}/packages/{CONFIG.stores[w.store].suite}/units.parquet",
    output:
        [OUT + "/stores/{store}/" + f"{name}.parquet" for name in STORE_FILES],
    params:
        store=lambda w: CONFIG.store_part(w.store),
        # Names only: the files' content is the input.
        paths=lambda w: {key: getattr(CONFIG.stores[w.store], key) for key in ("path", "parts", "coverage", "salience")},
        rules=lambda w: ordering_rules(w.store),
        code=code_hash(["memaudit.stores.labelled", "memaudit.stores.tables_io"]),
    log:
        OUT + "/logs/ingest_store/{store}.log",
    benchmark:
        OUT + "/benchmarks/ingest_store/{store}.tsv"
    wildcard_constraints:
        store=ONLY_LABELLED,
    script:
        "../../scripts/ingest_store.py"


use rule ingest_store as judge_store with:
    input:
        export=lambda w: store_files(CONFIG.stores[w.store].path),
        parts=lambda w: list(CONFIG.stores[w.store].parts.values()),
        labels=lambda w: [f for f in (CONFIG.stores[w.store].salience,) if f] + labels_beside(CONFIG.stores[w.store]),
        packages=lambda w: f"{OUT}/packages/{CONFIG.stores[w.store].suite}/packages.parquet",
        tables=lambda w: suite_packages(CONFIG.stores[w.store].suite),
    output:
        [OUT + "/stores/{store}/" + f"{name}.parquet" for name in [*STORE_FILES, *JUDGE_FILES]],
    params:
        store=lambda w: CONFIG.store_part(w.store),
        paths=lambda w: {key: getattr(CONFIG.stores[w.store], key) for key in ("path", "parts", "coverage", "salience")},
        rules=lambda w: ordering_rules(w.store),
        judge=lambda w: judge_hash(CONFIG.stores[w.store].judge),
        code=code_hash(["memaudit.stores.labelled", "memaudit.stores.judge_io", "memaudit.stores.tables_io", "memaudit.package_io"]),
    wildcard_constraints:
        store=ONLY_JUDGED,


rule union_packages:
    input:
        packages=lambda w: suite_packages(UNIONS[w.suite].suite),
        stores=lambda w: [store_tables(store)[0] for store in UNIONS[w.suite].stores],
        tables=lambda w: [f for store in UNIONS[w.suite].stores for f in store_tables(store)],
    output:
        package_files(),
    params:
        costs=lambda w: CONFIG.memory_costs(UNIONS[w.suite]),
        alone=lambda w: UNIONS[w.suite].alone,
        code=code_hash(["memaudit.stores.unions", "memaudit.stores.tables_io", "memaudit.package_io"]),
    log:
        OUT + "/logs/packages/{suite}.log",
    benchmark:
        OUT + "/benchmarks/packages/{suite}.tsv"
    wildcard_constraints:
        suite=ANY_UNION,
    script:
        "../../scripts/make_unions.py"


use rule solve as solve_union with:
    input:
        packages=package_files(),
        base=lambda w: suite_packages(UNIONS[w.suite].suite),
    params:
        problem=lambda w: CONFIG.problem_part(union_setting(w), ["full"]),
        shards=1,
        budgets=lambda w: CONFIG.budget_specs(UNIONS[w.suite].suite),
        curve=None,
        node_limit=lambda w: CONFIG.suites[UNIONS[w.suite].suite].node_limit,
        code=code_hash(["memaudit.solve.stage", "memaudit.budgets", "memaudit.package_io"]),
    wildcard_constraints:
        suite=ANY_UNION,


use rule check as check_union with:
    params:
        problem=lambda w: CONFIG.problem_part(union_setting(w), ["full"]),
        limit=lambda w: CONFIG.suites[UNIONS[w.suite].suite].check_limit,
        sample=lambda w: CONFIG.sample_part(UNIONS[w.suite].suite),
        code=code_hash(["memaudit.check.certify", "memaudit.check.curves"]),
    wildcard_constraints:
        suite=ANY_UNION,


rule score_store:
    input:
        packages=lambda w: suite_packages(CONFIG.stores[w.store].suite),
        unions=lambda w: suite_packages(of_store(w.store)),
        stores=lambda w: store_tables(w.store),
        package_solutions=solved_at("solutions", "package"),
        package_selections=solved_at("selections", "package"),
        package_checks=solved_at("checks", "package"),
        union_solutions=solved_at("solutions", "union"),
        union_selections=solved_at("selections", "union"),
        union_checks=solved_at("checks", "union"),
        alone_solutions=solved_at("solutions", "alone"),
        alone_selections=solved_at("selections", "alone"),
        alone_checks=solved_at("checks", "alone"),
        joint_solutions=solved_at("solutions", "joint"),
        joint_selections=solved_at("selections", "joint"),
        joint_checks=solved_at("checks", "joint"),
    output:
        scores=OUT + "/stores/" + STORE_SETTING + "/scores.parquet",
        selections=OUT + "/stores/" + STORE_SETTING + "/selections.parquet",
        losses=OUT + "/stores/" + STORE_SETTING + "/losses.parquet",
        lost_units=OUT + "/stores/" + STORE_SETTING + "/lost_units.parquet",
    params:
        suite=lambda w: CONFIG.stores[w.store].suite,
        union=lambda w: of_store(w.store),
        rules=lambda w: CONFIG.stores[w.store].rules,
        labels=lambda w: CONFIG.stores[w.store].judge or "labels",
        memory_cost=lambda w: memory_cost_at(w.store, w.cost_model),
        setting=lambda w: CONFIG.problem_part(setting_of_store(w), []),
        budgets=lambda w: CONFIG.budget_specs(CONFIG.stores[w.store].suite),
        code=code_hash(["memaudit.analysis.store_scores", "memaudit.budgets", "memaudit.stores.tables_io", "memaudit.package_io"]),
    log:
        OUT + "/logs/score_store/" + STORE_SETTING + ".log",
    benchmark:
        OUT + "/benchmarks/score_store/" + STORE_SETTING + ".tsv"
    script:
        "../../scripts/score_store.py"


# 200 draws of labels, the same whatever the setting, cores or order (analysis/store_verdicts.py).
rule store_verdicts:
    input:
        packages=lambda w: suite_packages(CONFIG.stores[w.store].suite),
        unions=lambda w: suite_packages(of_store(w.store)),
        stores=lambda w: store_tables(w.store) + judge_tables(w.store),
        selections=OUT + "/stores/" + STORE_SETTING + "/selections.parquet",
        losses=OUT + "/stores/" + STORE_SETTING + "/losses.parquet",
    output:
        verdicts=OUT + "/stores/" + STORE_SETTING + "/verdicts.parquet",
        draws=OUT + "/stores/" + STORE_SETTING + "/draws.parquet",
    params:
        suite=lambda w: CONFIG.stores[w.store].suite,
        skip_empty=lambda w: CONFIG.stores[w.store].skip_empty,
        memory_cost=lambda w: memory_cost_at(w.store, w.cost_model),
        setting=lambda w: CONFIG.problem_part(setting_of_store(w), []),
        draws=DRAWS,
        seed=0,
        code=code_hash(["memaudit.analysis.store_verdicts", "memaudit.stores.tables_io", "memaudit.package_io"]),
    log:
        OUT + "/logs/store_verdicts/" + STORE_SETTING + ".log",
    benchmark:
        OUT + "/benchmarks/store_verdicts/" + STORE_SETTING + ".tsv"
    wildcard_constraints:
        store=ONLY_JUDGED,
    script:
        "../../scripts/judge_verdicts.py"


rule analyse_stores:
    input:
        packages=OUT + "/packages/{suite}/packages.parquet",
        units=OUT + "/packages/{suite}/units.parquet",
        stores=lambda w: [store_tables(store)[0] for store in CONFIG.suite_stores(w.suite)],
        tables=lambda w: [f for store in CONFIG.suite_stores(w.suite) for f in store_tables(store)],
        scores=lambda w: [f for store in CONFIG.suite_stores(w.suite) for f in score_of_store(store, "scores")],
        losses=lambda w: [f for store in CONFIG.suite_stores(w.suite) for f in score_of_store(store, "losses")],
        judges=lambda w: [f for store in CONFIG.suite_stores(w.suite) for f in judge_tables(store)],
        verdicts=lambda w: [f for store in CONFIG.suite_stores(w.suite) for f in verdicts_of_store(store)],
        lost_units=lambda w: [f for store in CONFIG.suite_stores(w.suite) for f in score_of_store(store, "lost_units")],
    output:
        expand(OUT + "/analysis/{{suite}}/{name}.parquet", name=STORE_TABLES),
    params:
        stores=lambda w: {store: shown_of_store(store) for store in CONFIG.suite_stores(w.suite)},
        compared=lambda w: list(INFO.suite(w.suite).compared),
        bootstrap=CONFIG.bootstrap.model_dump(),
        code=code_hash(["memaudit.analysis.store_summary", "memaudit.analysis.store_compared", "memaudit.stores.tables_io"]),
    log:
        OUT + "/logs/analyse_stores/{suite}.log",
    benchmark:
        OUT + "/benchmarks/analyse_stores/{suite}.tsv"
    script:
        "../../scripts/analyse_stores.py"
