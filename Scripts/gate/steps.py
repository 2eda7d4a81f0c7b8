"""What a part of the gate does: processes, each with a limit of its own."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Tests:
    """Runs those tests of the package's test product whose names match a regular expression, in a process of their own."""

    name: str
    filter: str
    # Expected seconds: the longest begin first.
    seconds: float
    # Tests of the filter that another group has.
    skip: str = ""
    # Minutes after which the process is ended, and what hangs is named.
    limit: float = 20
    # It waits for servers more than it computes, so that it takes no processor's place.
    waits: bool = False
    # Nothing else runs beside it: a browser has its own deadlines.
    alone: bool = False


@dataclass(frozen=True)
class Command:
    """Runs a command in the folder of the package."""

    name: str
    words: tuple[str, ...]
    seconds: float
    limit: float = 30
    environment: tuple[tuple[str, str], ...] = ()


# Stands in a command for the traits of the run's build, separated by commas.
TRAITS = "{traits}"
# Stands in a command for the words that name the run's build, to whatever builds or reads it.
BUILD = "{build}"
# Stands in a command for the folder that packages of other scratch folders are built in.
SCRATCH = "{scratch}"
