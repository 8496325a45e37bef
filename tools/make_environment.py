"""Write environment.yml for conda: the dependencies of pyproject.toml at the versions of requirements.lock.

One source for both installers: names and extras come from pyproject.toml, versions from the lock.
Standard library only, so that it runs before anything is installed.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where conda calls a package by another name than pip does.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "ortools": "ortools-python", "snakemake": "snakemake-minimal"}
# OR-Tools' wheels add a build number as third part, which the conda builds do not carry.
PARTS = {"ortools": 2}
HEAD = """\
# Made by tools/make_environment.py (`make lock`) from pyproject.toml and requirements.lock; do not edit.
#   conda env create -f environment.yml && conda activate memaudit && pip install --no-deps -e .
name: memaudit
channels:
  - conda-forge
  - bioconda
  - nodefaults
dependencies:
"""


def environment(pyproject: str, lock: str) -> str:
    """environment.yml from the texts of pyproject.toml and requirements.lock."""
    project = tomllib.loads(pyproject)["project"]
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    versions = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    lines = [f"python {project['requires-python']}", "pip", "setuptools"]
    for name in sorted({re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() for requirement in wanted}):
        version = ".".join(versions[name].split(".")[: PARTS.get(name)])
        lines.append(f"{CONDA_NAMES.get(name, name)}={version}")
    return HEAD + "".join(f"  - {line}\n" for line in lines)


def main() -> None:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "requirements.lock")]
    (ROOT / "environment.yml").write_text(environment(*texts), encoding="utf-8")


if __name__ == "__main__":
    main()
