# Statistics of a suite, the summary over all, tables, figures, the published comparison and the manifest.

ANALYSES = ["summary", "paired", "decomposition", "representation_mix", "status_counts", "audit", "learned", "mean_curves", "curve_counts"]


rule analyse:
    input:
        packages=OUT + "/packages/{suite}/packages.parquet",
        solutions=lambda w: solution_files(w.suite),
        curves=lambda w: solution_files(w.suite, "curves"),
        checks=lambda w: check_files(w.suite),
        curve_checks=lambda w: check_files(w.suite, "-curves"),
        scores=lambda w: score_files(w.suite),
        selections=lambda w: score_files(w.suite, "selections"),
    output:
        expand(OUT + "/analysis/{{suite}}/{name}.parquet", name=ANALYSES),
    params:
        bootstrap=CONFIG.bootstrap.model_dump(),
        solvers=lambda w: CONFIG.suites[w.suite].solvers,
        references=lambda w: [name for name in INFO.references if name in CONFIG.suite_writers(w.suite)],
        text_writers=lambda w: [x.name for x in writers_of(w.suite) if x.rule.reads_text],
        learned=lambda w: [x.name for x in writers_of(w.suite) if x.learns],
        texts_ours=lambda w: sorted(TEXTS_OURS & set(INFO.suite(w.suite).distributions)),
        code=code_hash(["memaudit.analysis.summary", "memaudit.analysis.curves"]),
    log:
        OUT + "/logs/analyse/{suite}.log",
    benchmark:
        OUT + "/benchmarks/analyse/{suite}.tsv"
    script:
        "../../scripts/analyse.py"


rule summary:
    input:
        expand(OUT + "/analysis/{suite}/summary.parquet", suite=SUITES),
    output:
        parquet=OUT + "/summary.parquet",
        csv=OUT + "/summary.csv",
    params:
        code=code_hash(["memaudit.table_io"]),
    log:
        OUT + "/logs/summary.log",
    script:
        "../../scripts/summarise.py"


def paper_files(suite):
    """What the published natural values are compared with, of a suite declared as the paper's package."""
    if not getattr(CONFIG.suites[suite], "paper_package", False):
        return []
    names = ("construction", "agreement", "label_ratios", "relabelled", "sensitivity", "store_summary", "store_anatomy")
    return [f"{OUT}/analysis/{suite}/summary.parquet", *natural_files(suite, names)]


rule published_comparison:
    input:
        summary=OUT + "/summary.parquet",
        audit=expand(OUT + "/analysis/{suite}/audit.parquet", suite=SUITES),
        published=CONFIG.published or [],
        natural=[f for suite in SUITES for f in paper_files(suite)],
    output:
        multiext(OUT + "/published_comparison", ".parquet", ".csv", ".md"),
    params:
        code=code_hash(["memaudit.analysis.published", "memaudit.analysis.published_natural"]),
    log:
        OUT + "/logs/published_comparison.log",
    script:
        "../../scripts/compare_published.py"


def writers_of(suite):
    return [make_writer(name, CONFIG.writer_part(name)) for name in CONFIG.suite_writers(suite)]


def illustrated(suite):
    """The package that the illustration draws, where it is of this suite."""
    drawn = CONFIG.illustration
    return drawn.package_id if drawn is not None and drawn.suite == suite else None


def of_suite(pairs, suite):
    return [[name, s] for name, s in pairs if s == suite]


def rule_name(what, suite):
    """A rule's name must be an identifier, and suites may differ in a dot only."""
    return f"{what}_{SUITES.index(suite)}_" + re.sub(r"\W", "_", suite)


def shown_natural(suite):
    """The natural tables that tables and figures are made of."""
    return natural_files(suite, NATURAL_FRAMES)


# A rule a suite: what is shown of a suite depends on its configuration, so the lists of outputs differ.
for suite in SUITES:
    if of_suite(wanted_tables(INFO), suite):

        rule:
            name:
                rule_name("tables", suite)
            input:
                expand(OUT + "/analysis/{suite}/{name}.parquet", suite=suite, name=ANALYSES),
                shown_natural(suite),
            output:
                [f"{OUT}/{f}" for name, s in of_suite(wanted_tables(INFO), suite) for f in table_files(name, s)],
                f"{OUT}/{index_file(suite)}",
            params:
                results=OUT,
                wanted=of_suite(wanted_tables(INFO), suite),
                info=info_part(INFO, suite),
                code=code_hash(["memaudit.present.tables_io", "memaudit.present.frames_io"]),
            log:
                f"{OUT}/logs/tables/{suite}.log",
            script:
                "../../scripts/write_tables.py"

    if of_suite(wanted_figures(INFO), suite):

        rule:
            name:
                rule_name("figures", suite)
            input:
                analysis=expand(OUT + "/analysis/{suite}/{name}.parquet", suite=suite, name=ANALYSES),
                natural=shown_natural(suite),
                package=expand(OUT + "/packages/{suite}/{name}.parquet", suite=suite, name=PACKAGE_TABLES)
                if illustrated(suite)
                else [],
                solutions=first_setting(solution_files(suite), suite) if illustrated(suite) else [],
                selections=first_setting(solution_files(suite, "selections"), suite) if illustrated(suite) else [],
            output:
                [f"{OUT}/{f}" for name, s in of_suite(wanted_figures(INFO), suite) for f in figure_files(name, s)],
            params:
                results=OUT,
                wanted=of_suite(wanted_figures(INFO), suite),
                package_id=illustrated(suite),
                info=info_part(INFO, suite),
                code=code_hash(["memaudit.present.figures_io", "memaudit.present.frames_io"]),
            log:
                f"{OUT}/logs/figures/{suite}.log",
            benchmark:
                f"{OUT}/benchmarks/figures/{suite}.tsv"
            script:
                "../../scripts/draw_figures.py"


rule tables_of_run:
    input:
        expand(OUT + "/analysis/{suite}/{name}.parquet", suite=SUITES, name=ANALYSES),
    output:
        [f"{OUT}/{f}" for name, s in of_suite(wanted_tables(INFO), None) for f in table_files(name, s)],
    params:
        results=OUT,
        wanted=of_suite(wanted_tables(INFO), None),
        info=info_part(INFO),
        code=code_hash(["memaudit.present.tables_io", "memaudit.present.frames_io"]),
    log:
        OUT + "/logs/tables_of_run.log",
    script:
        "../../scripts/write_tables.py"


def first_pages():
    """Where to look after a run: a line a suite with stores."""
    for name, suite in wanted_tables(INFO):
        page = Path(OUT, "tables", str(suite), "store_diagnosis.md")
        if name == page.stem and page.exists():
            yield f"memaudit: what the stores of suite {suite} lose, and what to change: see {page}"


def presented():
    """Every table and figure, and the published comparison."""
    shown = [figure_files(*pair) for pair in wanted_figures(INFO)] + [table_files(*pair) for pair in wanted_tables(INFO)]
    files = [f"{OUT}/{f}" for group in shown for f in group]
    files += [f"{OUT}/{index_file(suite)}" for suite in SUITES if of_suite(wanted_tables(INFO), suite)]
    if CONFIG.published:
        files += [f"{OUT}/published_comparison.{kind}" for kind in ("parquet", "csv", "md")]
    return files


rule manifest:
    input:
        made(),
        expand(OUT + "/analysis/{suite}/{name}.parquet", suite=SUITES, name=ANALYSES),
    output:
        OUT + "/manifest.json",
    params:
        config=CONFIG.model_dump(mode="json"),
        sources=[CONFIG_FILE, *SOURCE_FILES],
        benchmarks=OUT + "/benchmarks",
        code={stage: code_hash([module]) for stage, module in STAGES.items()},
    log:
        OUT + "/logs/manifest.log",
    script:
        "../../scripts/write_manifest.py"
