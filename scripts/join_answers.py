"""Rule downstream: answers of downstream systems by what their writers kept."""

from job import log_to
from memaudit.analysis.downstream import downstream
from memaudit.analysis.downstream_io import read_answers
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_table, write_table

log_to(snakemake.log)
given, params = snakemake.input, snakemake.params
queries = read_table(given.queries, "query_scores").to_pandas()
answers = read_answers(given.answers)
how = {"setting": dict(params.setting), **params.bootstrap}
rows = downstream(snakemake.wildcards.suite, queries, answers, params.systems, given.answers, **how)
write_table(snakemake.output[0], "downstream", rows, stage_metadata(given, params))
print(f"{len(answers)} answers")
