# Exact optima, one file a setting, budget, bundle of pools and shard; and their check by independent solvers.

rule solve:
    input:
        package_files(),
    output:
        solutions=OUT + "/solutions/" + POINT + "/{bundle}.{shard}.solutions.parquet",
        selections=OUT + "/solutions/" + POINT + "/{bundle}.{shard}.selections.parquet",
    params:
        problem=lambda w: CONFIG.problem_part(setting_of(w), solve_bundles(CONFIG, w.suite)[w.bundle]),
        shards=lambda w: CONFIG.shards(w.suite),
        node_limit=lambda w: CONFIG.suites[w.suite].node_limit,
        code=code_hash(["memaudit.solve.stage", "memaudit.budgets", "memaudit.package_io"]),
    log:
        OUT + "/logs/solve/" + POINT + "/{bundle}.{shard}.log",
    benchmark:
        OUT + "/benchmarks/solve/" + POINT + "/{bundle}.{shard}.tsv"
    script:
        "../../scripts/solve.py"


rule check:
    input:
        packages=package_files(),
        solutions=rules.solve.output.solutions,
        selections=rules.solve.output.selections,
    output:
        OUT + "/checks/" + POINT + "/{bundle}.{shard}.{solver}.parquet",
    params:
        problem=lambda w: CONFIG.problem_part(setting_of(w), solve_bundles(CONFIG, w.suite)[w.bundle]),
        code=code_hash(["memaudit.check.certify"]),
    log:
        OUT + "/logs/check/" + POINT + "/{bundle}.{shard}.{solver}.log",
    benchmark:
        OUT + "/benchmarks/check/" + POINT + "/{bundle}.{shard}.{solver}.tsv"
    script:
        "../../scripts/check.py"
