"""MEMAUDIT: synthetic and natural packages -> exact optima -> independent checks -> writers -> tables, figures."""

from snakemake.utils import min_version

min_version("9.18")


include: "workflow/rules/common.smk"
include: "workflow/rules/packages.smk"
include: "workflow/rules/solve.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/natural.smk"
include: "workflow/rules/stores.smk"
include: "workflow/rules/present.smk"


rule all:
    default_target: True
    input:
        everything(),


onsuccess:
    for line in first_pages():
        print(line, file=sys.stderr)
