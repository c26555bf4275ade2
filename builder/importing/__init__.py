"""Releases from what others published, and the commands that know one track."""

from typing import Final

from builder.causalds.show.commands import INSPECT, NEW_VARIANT
from builder.cli.command import Command
from builder.importing.causalds.commands import IMPORT as IMPORT_CAUSALDS

COMMANDS: Final[tuple[Command, ...]] = (
    INSPECT, NEW_VARIANT, IMPORT_CAUSALDS,
)  # fmt: skip
