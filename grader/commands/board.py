"""Write the board of a dataset of results as a static site.

Rankings by skill with intervals and floors, cost against skill, a page for each submission with its
hashes. The site has no script and asks nobody. `hf upload` brings it into a static Space.

examples:
  causal-exams board --from org/results --out site/
  hf upload org/board site/ . --repo-type space
"""

import argparse
from pathlib import Path

from grader.errors import UsageError
from grader.io.printing import plural, print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``board``."""
    parser.add_argument(
        "--from",
        dest="results",
        required=True,
        metavar="ORG/NAME",
        help="dataset of results, or a folder with a copy of it",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the site"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the site anew."""
    from grader.hub.client import Address, connect
    from grader.hub.results import ResultsDataset, rows_in
    from grader.hub.site import INDEX, PAGES, write_site
    from grader.io.files import refuse_links
    from grader.tracks import TRACKS

    folder, out = Path(arguments.results), arguments.out
    if folder.is_dir():
        rows, name = rows_in(folder), folder.name
    else:
        name = Address.parse(arguments.results, "--from").repo
        rows = ResultsDataset(connect(), name).rows
    if out.exists() and any(out.iterdir()) and not (out / INDEX).is_file():
        raise UsageError(f"--out {out}: holds other files; name a new folder")
    refuse_links(out)
    for page in (out / PAGES).glob("*.html"):
        page.unlink()
    files = write_site(out, rows, name, TRACKS)
    print_lines(f"{out / INDEX}: {plural(len(rows), 'submission')}, {plural(files, 'file')}")
    return 0
