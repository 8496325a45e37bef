# What each writer keeps, and what that is worth; then statistics a suite and over all.

def solved_files(wildcards, stage, kinds):
    """The solutions or checks of every pool at the wildcards' setting and shard."""
    setting = SETTING.format(**{key: getattr(wildcards, key) for key in ("suite", "cost_model", "k", "saturation")})
    bundles = solve_bundles(CONFIG, wildcards.suite)
    needed = writer_bundles(CONFIG, wildcards.suite)[wildcards.bundle].solved(bundles)
    return [f"{OUT}/{stage}/{setting}/{bundle}.{wildcards.shard}.{kind}.parquet" for bundle in needed for kind in kinds]


rule score:
    input:
        packages=package_files(),
        solutions=lambda w: solved_files(w, "solutions", ["solutions"]),
        selections=lambda w: solved_files(w, "solutions", ["selections"]),
        checks=lambda w: solved_files(w, "checks", CONFIG.suites[w.suite].solvers),
    output:
        scores=OUT + "/scores/" + SETTING + "/{bundle}.{shard}.scores.parquet",
        selections=OUT + "/scores/" + SETTING + "/{bundle}.{shard}.selections.parquet",
    params:
        writers=lambda w: {name: CONFIG.writer_part(name) for name in writer_bundles(CONFIG, w.suite)[w.bundle].writers},
        user_code=lambda w: [code_hash([f]) for f in writer_bundles(CONFIG, w.suite)[w.bundle].files],
        setting=lambda w: CONFIG.problem_part(setting_of(w), []),
        budgets=lambda w: CONFIG.budget_specs(w.suite),
        shards=lambda w: CONFIG.shards(w.suite),
        code=code_hash(["memaudit.writers.rules", "memaudit.writers.stage", "memaudit.analysis.scores", "memaudit.budgets", "memaudit.package_io"]),
    log:
        OUT + "/logs/score/" + SETTING + "/{bundle}.{shard}.log",
    benchmark:
        OUT + "/benchmarks/score/" + SETTING + "/{bundle}.{shard}.tsv"
    script:
        "../../scripts/score.py"
