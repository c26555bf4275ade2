"""The public CausalDS exam as a release of ours, and the commands that know one track.

``files`` opens what may be damaged, ``scene`` reads a scene, ``item`` a task of the exam, ``truth``
states the published truth of each variant, ``exam`` makes the rows, ``release`` writes them.
"""

from typing import Final

from builder.causalds.show.commands import INSPECT, NEW_VARIANT
from builder.cli.command import Command
from builder.importing.commands import IMPORT as IMPORT_CAUSALDS

COMMANDS: Final[tuple[Command, ...]] = (INSPECT, NEW_VARIANT, IMPORT_CAUSALDS)
