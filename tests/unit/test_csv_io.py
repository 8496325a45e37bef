"""CSV files of audits and downstream answers: whatever is odd in one stops with the file and the place."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from coverage_folders import tables, write

from memaudit.analysis.downstream import parse_answers
from memaudit.analysis.downstream_io import read_answers
from memaudit.csv_io import read_csv
from memaudit.errors import InputError
from memaudit.labels_io import read_sources
from memaudit.natural.audit_io import audit_files, load_audit
from memaudit.natural.coverage_package import DEFAULT_OPTIONS, build_coverage
from memaudit.natural.coverage_package_io import load_coverage_package
from memaudit.package_io import package_tables, write_packages


def file(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", b"\xef\xbb\xbfa,b\r\n1,2\r\n", 'a,b\n\n"1","2"\n\n', b"a,b\r1,2\r"], ids=range(4)
)
def test_forms_of_a_csv(tmp_path, text):
    assert [row for _, row in read_csv(file(tmp_path, text), ("a",))] == [{"a": "1", "b": "2"}]


def test_lines_are_those_of_the_file_and_fields_may_be_long(tmp_path):
    long = "w " * 100_000
    assert read_csv(file(tmp_path, f'a,b\n"x\ny",2\n3,{long}\n')) == [
        (3, {"a": "x\ny", "b": "2"}), (4, {"a": "3", "b": long}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a.csv: holds no row and no header"),
        ("a,b\n", r"a.csv: holds no row; fill it in"),
        ("a;b\n1;2\n", r"a.csv: no column a; needs a, separated by commas"),
        ("a,b,a\n1,2,3\n", r"a.csv: column 'a' stands twice"),
        ("a,b\n1,2\n1,2,3\n", r"a.csv, line 3: 3 fields where the header has 2"),
        ("a,b\n1\n", r"a.csv, line 2: 1 fields where the header has 2"),
        ('a,b\n1,"2\n', r"a.csv, line 2: not readable as CSV"),
        (b"a,b\n\xff,1\n", r"a.csv: not readable as CSV in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), r"a.csv: not readable as CSV in UTF-8"),
    ],
)
def test_what_is_odd_is_told(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_csv(file(tmp_path, text), ("a",))


# ---- audits


HEAD = "cell_id,instance_id,candidate_id,unit_id,gemini_coverage\n"
CELLS = HEAD + "1,q_bike,q_bike::c1,q_bike::old,1.0\n2,q_bike,q_bike::c3,q_bike::new,0.5\n"


def audit(tmp_path, cells=CELLS, **labels):
    folder = tmp_path / "audit"
    folder.mkdir(exist_ok=True)
    file(folder, cells, "annotation_cells.csv")
    for name, text in (labels or {"human_a": "cell_id,label\n1,1\n2,0\n"}).items():
        file(folder, text, f"{name}_labels.csv")
    return folder


def test_an_audit_is_its_labels_and_what_it_was_made_of(tmp_path):
    made = load_audit(audit_files(audit(tmp_path)))
    old, new = ("q_bike", "q_bike::c1", "q_bike::old"), ("q_bike", "q_bike::c3", "q_bike::new")
    assert made.labels == {"human_a": {old: 1.0, new: 0.0}}
    assert made.coverage == {old: 1.0, new: 0.5}
    assert made.files == {"human_a": str(tmp_path / "audit" / "human_a_labels.csv")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cell_id,label\n1,\n2, \n", "human_a_labels.csv: no cell has a label"),
        ("cell_id,mark\n1,1\n", "human_a_labels.csv: no column label"),
        ("cell_id,annotator_id,label\n1,alice,1\n2,bob,1\n", "line 3: annotator_id is 'bob', above it 'alice'"),
        ("cell_id,label,label\n1,1,0\n", "column 'label' stands twice"),
        ("", "human_a_labels.csv: holds no row"),
    ],
)
def test_labels_that_would_be_lost_or_pooled_stop(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load_audit(audit_files(audit(tmp_path, human_a=text)))


def test_hidden_files_are_no_labellers_and_a_nameless_one_stops(tmp_path):
    folder = audit(tmp_path)
    file(folder, b"\0\5\xff", "._human_a_labels.csv")
    assert list(load_audit(audit_files(folder)).labels) == ["human_a"]
    file(folder, "cell_id,label\n1,1\n", "_labels.csv")
    with pytest.raises(InputError, match=r"_labels.csv: names no labeller"):
        audit_files(folder)


@pytest.fixture
def suite(tmp_path):
    """Packages of the invented folder, and their table of labels."""
    made = build_coverage(load_coverage_package(write(tmp_path / "in", tables()), DEFAULT_OPTIONS), "s")
    write_packages(tmp_path / "s", package_tables(made.packages, suite="s", label_source="x", labels=made.labels))
    return made.packages, tmp_path / "s" / "labels.parquet"


def test_an_audit_joins_the_label_sources(tmp_path, suite):
    sources = read_sources(*suite, audit_files(audit(tmp_path)))
    assert [s.name for s in sources] == ["package", "m1 + m2", "unnamed rows", "human_a"]
    assert sources[0].made_of == {"m1 + m2", "unnamed rows"}


@pytest.mark.parametrize("value", ["0.75", "0"])
def test_an_audit_of_another_version_stops(tmp_path, suite, value):
    cells = CELLS.replace("0.5\n", f"{value}\n")
    with pytest.raises(InputError, match=r"annotation_cells.csv: gemini_coverage of 1 cells is not the package's"):
        read_sources(*suite, audit_files(audit(tmp_path, cells)))
    read_sources(*suite, audit_files(audit(tmp_path, CELLS.replace("0.5\n", "\n"))))


def test_coverage_in_an_audit_is_a_share(tmp_path):
    with pytest.raises(InputError, match=r"line 3: gemini_coverage is '2'; write a number in \[0, 1\]"):
        load_audit(audit_files(audit(tmp_path, CELLS.replace("0.5\n", "2\n"))))


def test_a_labeller_named_like_a_source_stops(tmp_path, suite):
    with pytest.raises(InputError, match=r"the suite's labels and .*package_labels.csv: two sources .* 'package'"):
        read_sources(*suite, audit_files(audit(tmp_path, package="cell_id,label\n1,1\n")))


# ---- downstream answers


ANSWERS = "query_id,system,correct,budget\n"


def test_answers_stay_as_written(tmp_path):
    read = read_answers(file(tmp_path, ANSWERS + "NA,None,1,60.0\nnan,007,no,\n"))
    assert read["query_id"].tolist() == ["NA", "nan"] and read["system"].tolist() == ["None", "007"]
    assert read["budget"].tolist() == [60, pd.NA]


@pytest.mark.parametrize("budget", ["inf", "1e30", "9223372036854775807", "2147483648", "0.05", "True", "nan", "1e999"])
def test_budgets_beyond_bounds_are_told(tmp_path, budget):
    with pytest.raises(InputError, match=f"row 1: budget {budget!r} is no whole number from 1 to 2147483647"):
        read_answers(file(tmp_path, ANSWERS + f"q,s,1,{budget}\n"))


@pytest.mark.parametrize("rows", ["q,s,1,\nq,s,0,60\n", "q,s,1,60\nq,s,0,\n", "q,s,1,60\nq,s,0,60\n"])
def test_an_answer_at_every_budget_is_the_only_one(tmp_path, rows):
    with pytest.raises(InputError, match="row 2: query q of system s is answered twice"):
        read_answers(file(tmp_path, ANSWERS + rows))
    assert len(read_answers(file(tmp_path, ANSWERS + "q,s,1,60\nq,s,0,80\nq,t,1,\n"))) == 3


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("0," + ANSWERS + "0,q,s,1,\n", "a.csv", None),
        (ANSWERS + "0,q,s,1,\n", "a.csv", "line 2: 5 fields"),
        ("query_id,system,correct,correct\nq,s,1,0\n", "a.csv", "column 'correct' stands twice"),
        (b"PK\3\4\xff", "a.zip", "a.zip: not readable as CSV"),
        (b"\x1f\x8b\xff", "a.csv.gz", "a.csv.gz: not readable as CSV"),
    ],
)
def test_files_that_are_no_table_of_answers(tmp_path, text, name, message):
    path = file(tmp_path, text, name)
    if message is None:  # a column of its own is none of ours
        assert read_answers(path)["query_id"].tolist() == ["q"]
        return
    with pytest.raises(InputError, match=message):
        read_answers(path)


@pytest.mark.parametrize("value", [["q"], b"q", 1.5, True])
def test_ids_of_other_kinds_are_told(tmp_path, value):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"query_id": [value], "system": ["s"], "correct": [1]}), path)
    with pytest.raises(InputError, match=r"a.parquet, row 1: query_id is .*; write text or a whole number"):
        read_answers(path)


def test_parquet_columns_stand_once(tmp_path):
    path = tmp_path / "a.parquet"
    names = ["query_id", "system", "correct", "correct"]
    pq.write_table(pa.Table.from_arrays([pa.array(["q"]), pa.array(["s"]), pa.array([1]), pa.array([0])], names), path)
    with pytest.raises(InputError, match="column 'correct' stands twice"):
        read_answers(path)


def test_whole_numbers_are_ids():
    table = pd.DataFrame({"query_id": [7], "system": ["s"], "correct": [True]})
    assert parse_answers(table, "x")["query_id"].tolist() == ["7"]
