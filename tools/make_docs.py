"""Write config/schema.json and config/README.md's key tables from the configuration models (`make docs`)."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from memaudit.config_docs import schema_text, with_key_tables  # noqa: E402


def main() -> None:
    readme = ROOT / "config" / "README.md"
    (ROOT / "config" / "schema.json").write_text(schema_text(), encoding="utf-8")
    readme.write_text(with_key_tables(readme.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
