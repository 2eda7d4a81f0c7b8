"""The table of what the parts of a run took."""
import json
from dataclasses import dataclass


@dataclass
class Row:
    """A process, or a whole stage, whose name is empty: then `processors` is what the machine's processors did meanwhile."""

    stage: str
    name: str
    seconds: float
    processor: float | None
    tests: int
    passed: bool
    processors: float | None = None


# Fewer processors than this, of two, name a stage of tests to look at.
WANTED_PROCESSORS = 1.7


def report(rows, minutes):
    """Returns the table of a run."""
    lines = [f"{'part':<48}{'seconds':>9}{'processors':>12}{'tests':>8}"]
    for row in rows:
        if row.name:
            used = row.processor / max(row.seconds, 0.1)
            lines.append(f"  {row.name:<46}{row.seconds:>9.0f}{used:>12.1f}{row.tests or '':>8}{'' if row.passed else '  failed'}")
        else:
            used = "" if row.processors is None else f"{row.processors:.2f}"
            look = row.processors is not None and row.processors < WANTED_PROCESSORS and row.seconds > 30
            lines.append(f"{row.stage:<48}{row.seconds:>9.0f}{used:>12}{'':>8}{'  look: processors are idle' if look else ''}")
    lines.append(f"{'the whole':<48}{minutes * 60:>9.0f}  ({minutes:.1f} minutes)")
    return "\n".join(lines)


def compare(new, old):
    """Returns the table of two runs (files that a run has written), with the ratio of their seconds."""
    with open(new) as file:
        this = json.load(file)
    with open(old) as file:
        that = json.load(file)
    before = {(row["stage"], row["name"]): row["seconds"] for row in that["rows"]}
    lines = [f"{'part':<48}{'before':>9}{'now':>9}{'ratio':>8}"]
    for row in this["rows"]:
        name = f"  {row['name']}" if row["name"] else row["stage"]
        earlier = before.get((row["stage"], row["name"]))
        ratio = f"{row['seconds'] / earlier:>8.2f}" if earlier else ""
        lines.append(f"{name:<48}{earlier if earlier is None else round(earlier)!s:>9}{row['seconds']:>9.0f}{ratio}")
    lines.append(f"{'the whole':<48}{that['minutes'] * 60:>9.0f}{this['minutes'] * 60:>9.0f}{this['minutes'] / that['minutes']:>8.2f}")
    return "\n".join(lines)
