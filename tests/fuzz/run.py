"""Fuzz one target, guided by coverage: ``python tests/fuzz/run.py TARGET [libFuzzer options]``.

New inputs of interest go to ``.fuzz/TARGET``, what is found to ``.fuzz/TARGET-crash-…``: make it a
file in ``tests/fuzz/findings/TARGET`` when it is mended. Needs the extra ``fuzz`` (Linux, macOS).
"""

import sys
from pathlib import Path

import atheris

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

with atheris.instrument_imports(
    include=["grader", "causal_exams", "builder.release", "builder.stories.llm", "json", "csv"]
):
    from fuzz_targets import TARGETS


def main() -> None:
    name, *options = sys.argv[1:]
    found = HERE.parents[1] / ".fuzz" / name
    found.mkdir(parents=True, exist_ok=True)
    kept = [HERE / folder / name for folder in ("corpus", "findings")]
    places = [str(found), *(str(folder) for folder in kept if folder.is_dir())]
    crashes = f"-artifact_prefix={found}-"
    TARGETS[name](b"")  # what it imports is no part of the first input's time
    atheris.Setup(
        [sys.argv[0], "-timeout=20", "-rss_limit_mb=2048", crashes, *options, *places],
        TARGETS[name],
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
