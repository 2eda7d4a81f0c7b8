"""Which parts a run takes.

`.ci/turns` has a line for each landing, the newest last:

    2026-11-27  21.4 min  ran: network command  owed: release  reason: …

CI has no state but the repository, so that the turns are kept there.
"""
from dataclasses import dataclass, field

# A run may take this many minutes by itself; what would take it beyond `CAP` is owed to the next one.
AIM = 25
CAP = 40
# So many parts that have waited longest are taken where the aim allows it.
IN_TURN = 2
# No part is missed by more landings in a row.
MOST_MISSED = 5


@dataclass
class Turn:
    """A landing: the parts that ran, in minutes, those that were owed, and why it took more than it should."""

    date: str
    minutes: float
    ran: list
    owed: list = field(default_factory=list)
    reason: str = ""

    @staticmethod
    def parse(line):
        """Reads a line. Raises ValueError for one that has another form."""
        fields = [part.strip() for part in line.rstrip("\n").split("  ") if part.strip()]
        if len(fields) < 3 or not fields[1].endswith(" min"):
            raise ValueError(f"not a line of turns: {line!r}")
        turn = Turn(fields[0], float(fields[1][: -len(" min")]), [])
        for text in fields[2:]:
            name, colon, value = text.partition(":")
            if not colon or name not in ("ran", "owed", "reason"):
                raise ValueError(f"“{text}” is no part of a line of turns: {line!r}")
            setattr(turn, name, value.strip() if name == "reason" else value.split())
        return turn

    def line(self):
        """Returns the line, without its end."""
        text = f"{self.date}  {self.minutes:.1f} min  ran: {' '.join(self.ran)}"
        if self.owed:
            text += f"  owed: {' '.join(self.owed)}"
        if self.reason:
            text += f"  reason: {' '.join(self.reason.split())}"
        return text


def read(text):
    """Reads the lines of `.ci/turns`, without comments."""
    return [Turn.parse(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def called_for(parts, files):
    """Returns the names of parts whose files are among those that have changed; None says that anything may have."""
    if files is None:
        return [part.name for part in parts if part.paths]
    return [part.name for part in parts if part.paths and any(file.startswith(part.paths) for file in files)]


def waits(parts, turns):
    """Returns for each part in how many landings in a row it was not; for one that was never seen, one more than there are landings."""
    result = {part.name: len(turns) + 1 for part in parts}
    for number, turn in enumerate(reversed(turns)):
        for name in turn.ran:
            if name in result:
                result[name] = min(result[name], number)
    return result


def share(waited):
    """Returns how many parts a run takes so that each has its turn in time."""
    return -(-len(waited) // (MOST_MISSED + 1))


def needed(waited):
    """Returns how many of the parts that have waited longest a run takes at least, so that no later one has to take more than its share."""
    return max(sum(wait >= MOST_MISSED - later for wait in waited.values()) - share(waited) * later for later in range(MOST_MISSED + 1))


def choose(parts, turns, files, base_minutes):
    """Returns what the next run takes, and what it owes to the one after it.

    First come those that have waited so long that they, or others behind them, would be missed too often. Then come the parts that the changed files
    call for, and what the last run owed, as far as the cap allows: what is beyond it is owed. Where there is room below the aim, the run takes more
    of those that have waited longest. The first part is always taken, so that one that is too long by itself has its turn, too. Where more have
    waited too long than are one run's share, only the first of them comes before what has changed, and as many others as the aim allows after it.
    """
    known, waited = {part.name: part for part in parts}, waits(parts, turns)
    owed = [name for name in (turns[-1].owed if turns else []) if name in known]
    changed = called_for(parts, files)
    called = sorted(dict.fromkeys(owed + changed), key=lambda name: (name not in changed, name not in owed, -waited[name]))
    oldest = sorted(known, key=lambda name: (-waited[name], name not in called))
    due = oldest[:max(0, needed(waited))]
    is_overdue = len(due) > share(waited)
    taken, left = (due[:1] if is_overdue else list(due)), []
    minutes = base_minutes + sum(known[name].minutes for name in taken)
    first = [name for name in called if name in changed]
    for limit, names in ((CAP, first), (AIM if is_overdue else CAP, due), (CAP, called), (AIM, oldest[:IN_TURN])):
        for name in names:
            if name in taken:
                continue
            if taken and minutes + known[name].minutes > limit:
                left += [name] if name in called else []
                continue
            taken.append(name)
            minutes += known[name].minutes
    return taken, [name for name in dict.fromkeys(left) if name not in taken]


def simulate(parts, turns, landings, changes, base_minutes):
    """Returns the turns of so many landings after those that there are, each with the files that `changes` says for its number."""
    result = list(turns)
    for number in range(landings):
        taken, left = choose(parts, result, changes(number), base_minutes)
        known = {part.name: part.minutes for part in parts}
        result.append(Turn(f"{number + 1}", base_minutes + sum(known[name] for name in taken), taken, left))
    return result[len(turns):]


def longest_waits(parts, turns):
    """Returns for each part how many landings in a row it was not in, at most."""
    result = {}
    for part in parts:
        longest = waited = 0
        for turn in turns:
            waited = 0 if part.name in turn.ran else waited + 1
            longest = max(longest, waited)
        result[part.name] = longest
    return result
