# Statistics that only natural suites have; which of them a suite has is INFO.suite(suite).analyses.

from memaudit.natural.audit_io import audit_files


def first_scores(suite, of=None):
    """Scores and selections of a suite's first setting (or of the setting that is first in suite `of`)."""
    return [first_setting(score_files(suite, kind), suite, of) for kind in ("scores", "selections")]


def first_of(suite):
    return CONFIG.settings(suite)[0]._asdict()


def audited(wildcards):
    folder = CONFIG.suites[wildcards.suite].audit
    return audit_files(folder) if folder else []


def others(wildcards):
    return CONFIG.suites[wildcards.suite].compare_with


rule query_scores:
    input:
        packages=package_files(),
        scores=lambda w: score_files(w.suite),
        selections=lambda w: score_files(w.suite, "selections"),
    output:
        OUT + "/analysis/{suite}/query_scores.parquet",
    params:
        code=code_hash(["memaudit.analysis.queries", "memaudit.package_io"]),
    log:
        OUT + "/logs/query_scores/{suite}.log",
    benchmark:
        OUT + "/benchmarks/query_scores/{suite}.tsv"
    script:
        "../../scripts/score_queries.py"


rule construction:
    input:
        package_files(SUITE_TABLES),
    output:
        OUT + "/analysis/{suite}/construction.parquet",
    params:
        code=code_hash(["memaudit.analysis.construction", "memaudit.table_io"]),
    log:
        OUT + "/logs/construction/{suite}.log",
    script:
        "../../scripts/describe_construction.py"


rule label_agreement:
    input:
        packages=package_files(),
        labels=OUT + "/packages/{suite}/labels.parquet",
        audit=audited,
        # One file a suite to tell its folder by; the others, so that a change of them is noticed.
        others=lambda w: expand(OUT + "/packages/{other}/packages.parquet", other=others(w)),
        tables=lambda w: expand(OUT + "/packages/{other}/{table}.parquet", other=others(w), table=PACKAGE_TABLES),
    output:
        expand(OUT + "/analysis/{{suite}}/{name}.parquet", name=["agreement", "disagreements"]),
    params:
        grid=lambda w: CONFIG.suites[w.suite].quantize,
        bootstrap=CONFIG.bootstrap.model_dump(),
        code=code_hash(["memaudit.labels_io"]),
    log:
        OUT + "/logs/label_agreement/{suite}.log",
    benchmark:
        OUT + "/benchmarks/label_agreement/{suite}.tsv"
    script:
        "../../scripts/compare_labels.py"


rule label_ratios:
    input:
        packages=package_files(),
        labels=OUT + "/packages/{suite}/labels.parquet",
        audit=audited,
        scores=lambda w: first_scores(w.suite)[0],
        selections=lambda w: first_scores(w.suite)[1],
        other_scores=lambda w: [f for s in others(w) for f in first_scores(s, w.suite)[0]],
    output:
        expand(OUT + "/analysis/{{suite}}/{name}.parquet", name=["label_ratios", "relabelled"]),
    params:
        setting=lambda w: first_of(w.suite),
        problem=lambda w: CONFIG.problem_part(CONFIG.settings(w.suite)[0], []),
        node_limit=lambda w: CONFIG.suites[w.suite].node_limit,
        grid=lambda w: CONFIG.suites[w.suite].quantize,
        others=lambda w: {s: first_scores(s, w.suite)[0] for s in others(w)},
        bootstrap=CONFIG.bootstrap.model_dump(),
        code=code_hash(["memaudit.labels_io", "memaudit.analysis.label_ratios"]),
    log:
        OUT + "/logs/label_ratios/{suite}.log",
    benchmark:
        OUT + "/benchmarks/label_ratios/{suite}.tsv"
    script:
        "../../scripts/relabel_ratios.py"


rule robustness:
    input:
        packages=package_files(),
        scores=lambda w: first_scores(w.suite)[0],
        selections=lambda w: first_scores(w.suite)[1],
    output:
        expand(OUT + "/analysis/{{suite}}/{name}.parquet", name=["robustness", "robustness_writers"]),
    params:
        setting=lambda w: first_of(w.suite),
        problem=lambda w: CONFIG.problem_part(CONFIG.settings(w.suite)[0], []),
        noise=lambda w: CONFIG.suites[w.suite].robustness.model_dump(mode="json"),
        blind=lambda w: [x.name for x in INFO.suite(w.suite).writers if x.sees == "metadata"],
        code=code_hash(["memaudit.analysis.robustness", "memaudit.package_io"]),
    log:
        OUT + "/logs/robustness/{suite}.log",
    benchmark:
        OUT + "/benchmarks/robustness/{suite}.tsv"
    script:
        "../../scripts/add_noise.py"


rule sensitivity:
    input:
        budgets=OUT + "/budgets/{suite}.parquet",
        solutions=lambda w: solution_files(w.suite),
    output:
        OUT + "/analysis/{suite}/sensitivity.parquet",
    params:
        cost_models=lambda w: CONFIG.suites[w.suite].cost_models,
        bootstrap=CONFIG.bootstrap.model_dump(),
        code=code_hash(["memaudit.analysis.sensitivity", "memaudit.table_io"]),
    log:
        OUT + "/logs/sensitivity/{suite}.log",
    script:
        "../../scripts/compare_optima.py"


rule categories:
    input:
        queries=OUT + "/analysis/{suite}/query_scores.parquet",
        scores=lambda w: score_files(w.suite),
    output:
        OUT + "/analysis/{suite}/categories.parquet",
    params:
        bootstrap=CONFIG.bootstrap.model_dump(),
        code=code_hash(["memaudit.analysis.queries"]),
    log:
        OUT + "/logs/categories/{suite}.log",
    script:
        "../../scripts/by_category.py"


rule downstream:
    input:
        queries=OUT + "/analysis/{suite}/query_scores.parquet",
        answers=lambda w: CONFIG.suites[w.suite].downstream,
    output:
        OUT + "/analysis/{suite}/downstream.parquet",
    params:
        systems=lambda w: CONFIG.suites[w.suite].downstream_systems,
        setting=lambda w: first_of(w.suite),
        bootstrap=CONFIG.bootstrap.model_dump(),
        code=code_hash(["memaudit.analysis.downstream_io", "memaudit.table_io"]),
    log:
        OUT + "/logs/downstream/{suite}.log",
    script:
        "../../scripts/join_answers.py"
