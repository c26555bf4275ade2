"""Pages as a browser has them: parsed, and opened in headless Chromium without any package."""

import html
import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (360, 800, 1400, 1600)
_MEASURE = """
<script>
const found = [];
const frames = [...document.querySelectorAll("iframe")];
function measure(frame) {
  const page = frame.contentDocument;
  page.querySelectorAll("details").forEach((one) => { one.open = true; });
  const clipped = [];
  for (const svg of page.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const own = text.getBoundingClientRect();
      if (own.width && (own.left < box.left - 2 || own.right > box.right + 2
          || own.top < box.top - 2 || own.bottom > box.bottom + 2
          || box.right > frame.clientWidth + 1)) clipped.push(text.textContent);
    }
  }
  found.push({ page: frame.dataset.page, width: frame.clientWidth, clipped,
    over: page.documentElement.scrollWidth - frame.clientWidth,
    scripts: page.scripts.length, rows: page.querySelectorAll("tbody tr:not([hidden])").length });
}
addEventListener("load", () => {
  frames.forEach(measure);
  document.title = JSON.stringify(found);
});
</script>
"""


def parsed(page: str) -> ET.Element:
    """The body as XML: an unescaped string would break it."""
    body = page[page.index("<main>") : page.index("</main>") + len("</main>")]
    changes = (
        ("&nbsp;", " "),
        ("<details open", "<details"),
        ('type="search">', 'type="search"/>'),
    )
    for found, xml in changes:
        body = body.replace(found, xml)
    return ET.fromstring(body)


def browser() -> str:
    """The system's browser; skips the test where there is none."""
    for name in PROGRAMS:
        if (program := shutil.which(name)) is not None:
            return program
    pytest.skip(f"no browser on this machine: none of {', '.join(PROGRAMS)}")


def opened(pages: Sequence[Path], place: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """What each page is like at each width, all folds open, and what the console said."""
    frames = "".join(
        f'<iframe data-page="{page.name}" style="width:{width}px;height:900px;border:0" '
        f'srcdoc="{html.escape(page.read_text(encoding="utf-8"))}"></iframe>'
        for page in pages
        for width in WIDTHS
    )
    outer = place / "frames.html"
    outer.write_text(f"<!doctype html><meta charset=utf-8><body>{frames}{_MEASURE}", "utf-8")
    run = _run(outer)
    title = run.stdout.partition("<title>")[2].partition("</title>")[0]
    said = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    return json.loads(html.unescape(title)), said


def console(page: Path) -> list[str]:
    return [line for line in _run(page).stderr.splitlines() if ":CONSOLE" in line]


def _run(page: Path) -> "subprocess.CompletedProcess[str]":
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command = [browser(), *options, "--virtual-time-budget=8000", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)
