# What each writer keeps, and what that is worth; then statistics a suite and over all.

def point_files(wildcards, stage, kinds):
    """The solutions or checks of every pool at the wildcards' setting, budget and shard."""
    point = POINT.format(**{key: getattr(wildcards, key) for key in ("suite", "cost_model", "k", "saturation", "spec")})
    bundles = solve_bundles(CONFIG, wildcards.suite)
    needed = writer_bundles(CONFIG, wildcards.suite)[wildcards.bundle].solved(bundles)
    return [f"{OUT}/{stage}/{point}/{bundle}.{wildcards.shard}.{kind}.parquet" for bundle in needed for kind in kinds]


rule score:
    input:
        packages=package_files(),
        solutions=lambda w: point_files(w, "solutions", ["solutions"]),
        selections=lambda w: point_files(w, "solutions", ["selections"]),
        checks=lambda w: point_files(w, "checks", CONFIG.suites[w.suite].solvers),
    output:
        scores=OUT + "/scores/" + POINT + "/{bundle}.{shard}.scores.parquet",
        selections=OUT + "/scores/" + POINT + "/{bundle}.{shard}.selections.parquet",
    params:
        writers=lambda w: {name: CONFIG.writer_part(name) for name in writer_bundles(CONFIG, w.suite)[w.bundle].writers},
        user_code=lambda w: [code_hash([f]) for f in writer_bundles(CONFIG, w.suite)[w.bundle].files],
        setting=lambda w: CONFIG.problem_part(setting_of(w), []),
        shards=lambda w: CONFIG.shards(w.suite),
        code=code_hash(["memaudit.writers.rules", "memaudit.writers.stage", "memaudit.analysis.scores", "memaudit.budgets", "memaudit.package_io"]),
    log:
        OUT + "/logs/score/" + POINT + "/{bundle}.{shard}.log",
    benchmark:
        OUT + "/benchmarks/score/" + POINT + "/{bundle}.{shard}.tsv"
    script:
        "../../scripts/score.py"
