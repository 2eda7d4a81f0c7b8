"""The gate: see Scripts/test."""
import argparse
import datetime
import json
import pathlib
import random
import shutil
import subprocess
import sys

import parts as table
import repository
import turns
from report import compare
from run import ALL_LIMIT, WHOLE_LIMIT, GateRun

TURNS = repository.ROOT / repository.TURNS
REHEARSAL = repository.ROOT / ".build-next"


def said(text):
    print(text, flush=True)


def chosen_for_head():
    """Returns the parts that a run of HEAD takes: those of the newest line of the turns if HEAD has written it, otherwise those that the same
    rule chooses."""
    known = turns.read(TURNS.read_text()) if TURNS.exists() else []
    last = repository.last_turn()
    if known and last == repository.head():
        return [name for name in known[-1].ran if name in table.BY_NAME], []
    files = repository.changed_files(last) if last else None
    return turns.choose(table.PARTS, known, files, table.BASE_MINUTES)


def run(names, limit=WHOLE_LIMIT):
    passed = GateRun([table.BY_NAME[name] for name in names], said, limit).run()
    return 0 if passed else 1


def rehearse(reason):
    """Runs what the gate will run, in a fresh clone; then writes the line of the turns and commits it."""
    if not repository.is_clean():
        said("The work tree has changes that are not committed: what is handed in is HEAD.")
        return 2
    known = turns.read(TURNS.read_text())
    taken, owed = chosen_for_head()
    note = REHEARSAL / "passed.json"
    result = json.loads(note.read_text()) if note.exists() else {}
    if result.get("commit") != repository.head():
        shutil.rmtree(REHEARSAL, ignore_errors=True)
        clone = REHEARSAL / "OpenCoreData"
        subprocess.run(["git", "clone", "--quiet", str(repository.ROOT), str(clone)], check=True)
        status = subprocess.run([sys.executable, "Scripts/gate", "--part", *taken], cwd=clone).returncode
        if status != 0:
            return status
        result = {**json.loads((clone / ".build-gate/times.json").read_text()), "owed": owed}
        note.write_text(json.dumps(result) + "\n")
    if result["minutes"] > turns.AIM and not reason:
        said(f"It took {result['minutes']:.1f} minutes, and {turns.AIM} are the aim. Say why with --next --reason \"…\": what has passed is not run again.")
        return 3
    turn = turns.Turn(datetime.date.today().isoformat(), result["minutes"], result["parts"], result["owed"], reason or "")
    with TURNS.open("a") as file:
        file.write(turn.line() + "\n")
    repository.git("add", repository.TURNS)
    repository.git("commit", "--quiet", "-m", f"Turns: {' '.join(turn.ran)}")
    said(f"{turn.line()}\nCommitted. The gate runs the same parts for this commit.")
    return 0


def plan(landings):
    """Shows which parts so many landings would take, and that none waits for long."""
    known = turns.read(TURNS.read_text()) if TURNS.exists() else []
    names = sorted({path for part in table.PARTS for path in part.paths}) + ["Sources/ObjectGraph/"] * 20
    generator = random.Random(landings)
    future = turns.simulate(
        table.PARTS, known, landings, lambda number: generator.sample(names, generator.randint(0, 4)), table.BASE_MINUTES)
    for turn in future:
        said(turn.line())
    waits = turns.longest_waits(table.PARTS, [*known, *future][-landings:])
    said("\nLandings in a row without a part, at most:")
    for name, count in sorted(waits.items(), key=lambda item: -item[1]):
        said(f"  {name:<16}{count:>3}")
    longest = max(waits.values())
    if longest > turns.MOST_MISSED:
        said(f"A part is missed by {longest} landings in a row: {turns.MOST_MISSED} are the most.")
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(prog="Scripts/test", description="The gate. Without an option: what CI runs for HEAD.")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--next", action="store_true", help="rehearse a submission in a fresh clone, and note its turn")
    group.add_argument("--all", action="store_true", help="every part")
    group.add_argument("--part", nargs="*", metavar="NAME", help="what every run takes, and these parts")
    group.add_argument("--plan", type=int, metavar="N", help="show the parts of N landings, without building")
    group.add_argument("--list", action="store_true", help="list the parts")
    group.add_argument("--compare", type=pathlib.Path, metavar="FILE", help="compare the last run with another one's times.json")
    parser.add_argument("--reason", help="with --next: why the run takes more than it should")
    options = parser.parse_args()
    if options.list:
        for part in table.PARTS:
            said(f"{part.name:<16}{part.minutes:>4} min  {part.about}\n{'':<25}{', '.join(part.paths) or 'by turns only'}")
        return 0
    if options.compare:
        said(compare(repository.ROOT / ".build-gate/times.json", options.compare))
        return 0
    if options.plan is not None:
        return plan(options.plan)
    if options.next:
        return rehearse(options.reason)
    if options.all:
        return run(list(table.BY_NAME), ALL_LIMIT)
    if options.part is not None:
        unknown = [name for name in options.part if name not in table.BY_NAME]
        if unknown:
            said(f"There is no part {', '.join(unknown)}; Scripts/test --list shows them.")
            return 2
        return run(options.part)
    return run(chosen_for_head()[0])


sys.exit(main())
