"""``python -m benchmarks.figures``: the measured numbers of the guides, from one file.

    python -m benchmarks.figures                                       # does every page hold them?
    python -m benchmarks.figures --release release --answers answers   # measure, and rewrite

``docs/figures.json`` holds each measurement once: the release it is ``of`` (or ``code``), its
``values`` as text, the ``places`` where they stand (a page and words of one line, with ``{}`` for
each value), and in ``from`` what each is, if it can be measured: a system and a member of its
report (``naive skill_interval.0``), ``gate truths``, or ``words`` and outcomes of the reader of
replies, joined by `` + ``.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from causal_exams.extraction import yes_or_no
from grader.api import Release, grade
from grader.commands.main import with_errors_told
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.process import exit_with

ROOT: Final = Path(__file__).resolve().parent.parent
FIGURES: Final = Path("docs/figures.json")
_REPLIES: Final = ROOT / "tests" / "causal_exams" / "yes_or_no_replies.json"
_LATER: Final = "written after the mend"
_WORDS: Final = {True: "yes", False: "no", None: "neither"}
_TRUTHS: Final = re.compile(r"second derivation of every truth \| ok \| (\d+) truths")

Figure = dict[str, Any]
"""One measurement, as ``docs/figures.json`` has it."""


def read_figures(root: Path) -> list[Figure]:
    """Return the measurements of a checkout, in the order of their file."""
    figures: list[Figure] = json.loads((root / FIGURES).read_text(encoding="utf-8"))
    return figures


def stale_places(root: Path, figures: Sequence[Figure]) -> list[str]:
    """Return a line for each place that does not hold the values of its measurement."""
    return [
        f"{place['page']}: does not say «{words}»; run `make figures`"
        for figure in figures
        for place in figure["places"]
        if (words := place["text"].format(*figure["values"]))
        not in (root / place["page"]).read_text(encoding="utf-8")
    ]


def measure_again(figure: Figure, release: Path | None, answers: Path | None) -> Figure:
    """Return a measurement with its values as measured now, in the form of the stored ones.

    It is returned as it is without ``from``, and where ``release`` is none of those it is ``of``.
    """
    name = None if release is None else _open_release(release).name.split()[0]
    if "from" not in figure or figure["of"] not in ("code", name):
        return figure
    values = []
    for old, words in zip(figure["values"], figure["from"], strict=True):
        decimals = len(old.partition(".")[2])
        value = _measure(words, release, answers)
        values.append(f"{value:,.{decimals}f}".replace("-", "−"))
    return {**figure, "values": values}


def _measure(words: str, release: Path | None, answers: Path | None) -> float:
    """Return one value by its description in ``from``."""
    kind, _, path = words.partition(" ")
    if kind == "words":
        return sum(_reader_outcomes()[name] for name in path.split(" + "))
    if release is None or answers is None:
        raise UsageError(f"{FIGURES}: {words} needs --release and --answers")
    if kind == "gate":
        found = _TRUTHS.search((release / "GATE.md").read_text(encoding="utf-8"))
        if found is None:
            raise UsageError(f"{release / 'GATE.md'}: counts no truths; build the release again")
        return int(found[1])
    value: Any = _report(answers / kind, release)
    for name in path.split("."):
        value = value[int(name) if isinstance(value, list) else name]
    return float(value)


_open_release = cache(Release)


@cache
def _report(answers: Path, release: Path) -> dict[str, Any]:
    return grade(answers, _open_release(release)).data


@cache
def _reader_outcomes() -> Mapping[str, int]:
    """Return how many replies are ``right``, ``contrary`` and ``all``, and ``right`` by style."""
    outcomes = Counter[str]()
    for style, replies in json.loads(_REPLIES.read_text(encoding="utf-8")).items():
        for label, reply in replies:
            meaning = _WORDS[yes_or_no(reply)]
            outcomes[f"right {style}"] += meaning == label
            if style != _LATER:
                outcomes["all"] += 1
                outcomes["right"] += meaning == label
                outcomes["contrary"] += {meaning, label} == {"yes", "no"}
    return outcomes


def rewrite(root: Path, release: Path | None, answers: Path | None) -> list[str]:
    """Measure, write what changed into the pages and the file, and return a line for each change.

    Raises ``UsageError`` where a page has not the words of a place, before anything is written.
    """
    figures = read_figures(root)
    if stale := stale_places(root, figures):
        raise UsageError(stale[0].replace("run `make figures`", "restore its words"))
    renewed = [measure_again(figure, release, answers) for figure in figures]
    lines, pages = [], dict[Path, str]()
    for old, new in zip(figures, renewed, strict=True):
        if old == new:
            continue
        lines.append(f"{', '.join(old['values'])} -> {', '.join(new['values'])}")
        for place in new["places"]:
            page = root / place["page"]
            text = pages.get(page) or page.read_text(encoding="utf-8")
            words = [place["text"].format(*figure["values"]) for figure in (old, new)]
            pages[page] = text.replace(*words)
    for page, text in pages.items():
        write_text(page, text)
    rows = ",\n".join(json.dumps(figure, ensure_ascii=False) for figure in renewed)
    write_text(root / FIGURES, f"[\n{rows}\n]\n")
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """Check the pages (exit code 1 if one is stale), or measure and rewrite."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--release", type=Path, help="the release to measure")
    parser.add_argument("--answers", type=Path, help="folder with a folder of answers a system")
    arguments = parser.parse_args(words)

    def run() -> int:
        if arguments.release is None:
            lines = stale_places(ROOT, read_figures(ROOT))
        else:
            lines = rewrite(ROOT, arguments.release, arguments.answers)
        for line in lines:
            print(line)
        return int(bool(lines) and arguments.release is None)

    return with_errors_told(run, "interrupted")


if __name__ == "__main__":
    exit_with(main)
