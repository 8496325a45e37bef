# Exact optima, one file a setting, bundle of pools and shard; and their check by independent solvers.

rule solve:
    input:
        packages=package_files(),
    output:
        solutions=OUT + "/solutions/" + SETTING + "/{bundle}.{shard}.solutions.parquet",
        selections=OUT + "/solutions/" + SETTING + "/{bundle}.{shard}.selections.parquet",
        curves=OUT + "/solutions/" + SETTING + "/{bundle}.{shard}.curves.parquet",
    params:
        problem=lambda w: CONFIG.problem_part(setting_of(w), solve_bundles(CONFIG, w.suite)[w.bundle]),
        shards=lambda w: CONFIG.shards(w.suite),
        budgets=lambda w: CONFIG.budget_specs(w.suite),
        curve=lambda w: CONFIG.curve_part(w.suite),
        node_limit=lambda w: CONFIG.suites[w.suite].node_limit,
        code=code_hash(["memaudit.solve.stage", "memaudit.budgets", "memaudit.package_io"]),
    log:
        OUT + "/logs/solve/" + SETTING + "/{bundle}.{shard}.log",
    benchmark:
        OUT + "/benchmarks/solve/" + SETTING + "/{bundle}.{shard}.tsv"
    script:
        "../../scripts/solve.py"


rule check:
    input:
        packages=package_files(),
        solutions=rules.solve.output.solutions,
        selections=rules.solve.output.selections,
        curves=rules.solve.output.curves,
    output:
        checks=OUT + "/checks/" + SETTING + "/{bundle}.{shard}.{solver}.parquet",
        curves=OUT + "/checks/" + SETTING + "/{bundle}.{shard}.{solver}-curves.parquet",
    params:
        problem=lambda w: CONFIG.problem_part(setting_of(w), solve_bundles(CONFIG, w.suite)[w.bundle]),
        limit=lambda w: CONFIG.suites[w.suite].check_limit,
        sample=lambda w: CONFIG.sample_part(w.suite),
        code=code_hash(["memaudit.check.certify", "memaudit.check.curves"]),
    log:
        OUT + "/logs/check/" + SETTING + "/{bundle}.{shard}.{solver}.log",
    benchmark:
        OUT + "/benchmarks/check/" + SETTING + "/{bundle}.{shard}.{solver}.tsv"
    script:
        "../../scripts/check.py"
