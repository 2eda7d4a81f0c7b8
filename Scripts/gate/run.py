"""One run of the gate: what every run takes, and the parts that are chosen."""
import datetime
import json
import os
import re
import shutil
import time
from dataclasses import dataclass, field

import parts as table
import process
import repository
import testlog
from report import Row, report
from steps import BUILD, SCRATCH, TRAITS, Command, Tests

# Minutes after which a run ends by itself, and says what hangs; one of all parts takes longer.
WHOLE_LIMIT = 60
ALL_LIMIT = 180
# Processes that run at the same time: one for each processor.
AT_ONCE = max(2, os.cpu_count() or 2)
LOGS = repository.ROOT / ".build-gate"
PRODUCT = f"{table.BUILD_FOLDER}/debug/OpenCoreDataPackageTests.xctest"
BUILD_WORDS = ["--scratch-path", table.BUILD_FOLDER, *table.BUILD_FLAGS]


@dataclass
class Job:
    """A step as a process."""

    name: str
    words: list
    seconds: float
    limit: float
    environment: dict = field(default_factory=dict)
    # It takes no processor's place.
    waits: bool = False
    # For those who run it alone.
    filter: str = ""


class GateRun:
    """Runs the steps of the chosen parts, and keeps what they took."""

    def __init__(self, chosen, said=print, limit=WHOLE_LIMIT):
        self.chosen, self.said, self.limit = chosen, said, limit
        self.traits = list(table.BASE_TRAITS)
        for part in chosen:
            self.traits += [trait for trait in part.traits if trait not in self.traits]
        self.began = time.monotonic()
        self.rows, self.failed, self.tests = [], [], [0, 0]
        self.seed = os.environ.get("COREDATA_TEST_SEED") or str(repository.seed())
        self.environment = {**os.environ, "COREDATA_TEST_SEED": self.seed}
        # Commands of other parts build the package in another way: they do not see this.
        self.parts_environment = dict(setting for part in chosen for setting in part.environment)
        # SwiftPM passes traits on in the order of a set: in another order than the last build's, everything would be compiled anew.
        # The structures of the graph check themselves after each change.
        self.build_environment = {**self.parts_environment, "SWIFT_DETERMINISTIC_HASHING": "1", "COREDATA_INTERNAL_CHECKS": "1"}
        left_out = [f"-{target}" for part in table.PARTS if part not in chosen for target in part.targets]
        if left_out:
            self.build_environment["COREDATA_TARGETS"] = ",".join(left_out)
        shutil.rmtree(LOGS, ignore_errors=True)
        LOGS.mkdir()

    def remaining(self):
        return self.limit * 60 - (time.monotonic() - self.began)

    def minutes(self):
        return (time.monotonic() - self.began) / 60

    def run(self):
        """Runs everything. Returns whether all of it passed."""
        self.said(f"Commit {repository.git('log', '-1', '--format=%h %s')}\nTraits {', '.join(self.traits)}; "
                  f"in turn: {', '.join(part.name for part in self.chosen) or 'nothing'}; COREDATA_TEST_SEED={self.seed}")
        process.adopt_orphans()
        try:
            if not self.stage("what needs no build", [self.job(step) for step in table.CHEAP], AT_ONCE):
                return False
            packages = [*table.BASE_PACKAGES, *(name for part in self.chosen for name in part.packages)]
            build = ["swift", "build", "--product", "OpenCoreDataPackageTests", "--traits", ",".join(self.traits), *BUILD_WORDS]
            prepare = Job("system packages", ["Scripts/prepare", *packages], 20, 10)
            compile_all = Job("build", build, 600, 45, environment=self.build_environment)
            if not self.stage("system packages", [prepare], 1) or not self.stage("build", [compile_all], 1):
                return False
            if not self.without_warnings():
                return False
            self.run_tests()
            for part in self.chosen:
                for step in part.steps:
                    if isinstance(step, Command):
                        self.stage(part.name, [self.job(step)], 1)
        finally:
            process.end_orphans()
            self.end()
        return not self.failed

    def run_tests(self):
        """Runs what reads the build and groups of tests side by side, then those that want the machine for themselves."""
        readers = [self.job(step) for step in table.AFTER_BUILD]
        for reader in readers:
            reader.environment |= self.build_environment
        named = [*table.BASE_TESTS, *(step for part in self.chosen for step in part.steps if isinstance(step, Tests))]
        others = self.job(table.OTHER_TESTS)
        for step in named:
            others.words += ["--skip", step.filter]
        self.stage("tests", [*readers, *(self.job(step) for step in named if not step.alone), others], AT_ONCE)
        for step in named:
            if step.alone:
                self.stage(step.name, [self.job(step)], 1)

    def job(self, step):
        """Returns a step as a process."""
        if isinstance(step, Tests):
            words = [PRODUCT, "--testing-library", "swift-testing"]
            words += ["--filter", step.filter] if step.filter else []
            words += ["--skip", step.skip] if step.skip else []
            return Job(step.name, words, step.seconds, step.limit, environment=dict(self.parts_environment), waits=step.waits, filter=step.filter)
        scratch = os.environ.get("PACKAGES_SCRATCH") or str(repository.ROOT / ".build-packages")
        words = [word.replace(TRAITS, ",".join(self.traits)).replace(SCRATCH, scratch)
                 for given in step.words for word in (BUILD_WORDS if given == BUILD else [given])]
        return Job(step.name, words, step.seconds, step.limit, environment=dict(step.environment))

    def stage(self, name, jobs, at_once):
        """Runs jobs, notes what they took, and says what failed. Returns whether all passed."""
        self.said(f"== {name} (after {self.minutes():.1f} min)")
        if self.remaining() <= 0:
            self.failed.append(f"{name}: not begun, for the run has taken {self.limit} minutes")
            return False
        processors = process.Processors()
        began = time.monotonic()
        outcomes = process.run_all(jobs, at_once, LOGS, self.environment, repository.ROOT, self.remaining, self.said)
        used = processors.used()
        for outcome in outcomes:
            ran, failed = testlog.counted(outcome.log)
            self.tests[0] += ran
            self.tests[1] += failed
            self.rows.append(Row(name, outcome.name, outcome.seconds, outcome.processor, ran, outcome.passed))
            if not outcome.passed:
                job = next(job for job in jobs if job.name == outcome.name)
                self.complain(job, outcome)
        self.rows.append(Row(name, "", time.monotonic() - began, None, 0, all(outcome.passed for outcome in outcomes), used))
        return all(outcome.passed for outcome in outcomes)

    def complain(self, job, outcome):
        """Says what a process failed at, and how to run it alone."""
        self.failed.append(outcome.name)
        if outcome.timed_out:
            self.said(f"!! {outcome.name} has not ended within its limit. Begun, and not ended:")
            shown = testlog.unended(outcome.log)[:200] or testlog.trouble(outcome.log)
        else:
            self.said(f"!! {outcome.name} ended with status {outcome.status}:")
            shown = testlog.trouble(outcome.log)
        for line in shown:
            self.said(f"     {line}")
        alone = f"Scripts/test --filter '{job.filter}'" if job.filter else " ".join(map(str, job.words))
        self.said(f"   The log is {outcome.log.relative_to(repository.ROOT)}. Alone: COREDATA_TEST_SEED={self.seed} {alone}")

    def without_warnings(self):
        """Says which own sources give warnings. Returns whether none do."""
        own = re.compile(rf"^{re.escape(str(repository.ROOT))}/(Sources|Tests|Examples)/.*warning:")
        found = sorted({line for line in testlog.lines(LOGS / "build.log") if own.match(line)})
        for line in found:
            self.said(f"     {line}")
        if found:
            self.failed.append(f"{len(found)} warnings")
        return not found

    def end(self):
        """Prints the table, and writes it beside the logs."""
        text = report(self.rows, self.minutes())
        self.said(text)
        result = {
            "date": datetime.date.today().isoformat(), "commit": repository.head(), "seed": self.seed, "minutes": self.minutes(),
            "traits": self.traits, "parts": [part.name for part in self.chosen], "failed": self.failed, "tests": self.tests[0],
            "rows": [row.__dict__ for row in self.rows],
        }
        (LOGS / "times.json").write_text(json.dumps(result, indent=1) + "\n")
        for name in self.failed:
            self.said(f"Failed: {name}")
        failed = max(self.tests[1], len(self.failed))
        # A runner's closing line, which services read.
        self.said(f"{self.tests[0] - self.tests[1]} passed, {failed} failed")
