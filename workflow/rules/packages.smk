# Packages of a suite, and what its budgets come to.

rule packages:
    input:
        lambda w: source_files(CONFIG.suites[w.suite].source, CONFIG.source_paths(w.suite)),
    output:
        package_files(SUITE_TABLES),
    params:
        # Without paths: the files' content is the input.
        source=lambda w: CONFIG.source_definition(w.suite),
        code=code_hash(["memaudit.suites_io", "memaudit.package_io"]),
    log:
        OUT + "/logs/packages/{suite}.log",
    benchmark:
        OUT + "/benchmarks/packages/{suite}.tsv"
    script:
        "../../scripts/make_packages.py"


rule budgets:
    input:
        package_files(),
    output:
        OUT + "/budgets/{suite}.parquet",
    params:
        specs=lambda w: CONFIG.budget_specs(w.suite),
        cost_models=lambda w: {name: CONFIG.cost_parameters(name) for name in CONFIG.suites[w.suite].cost_models},
        code=code_hash(["memaudit.budgets", "memaudit.package_io", "memaudit.solve.stage"]),
    log:
        OUT + "/logs/budgets/{suite}.log",
    script:
        "../../scripts/make_budgets.py"
