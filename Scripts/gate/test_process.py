"""What is said of processes that fail, hang, or leave others behind."""
import os
import pathlib
import tempfile
import time
import unittest
from types import SimpleNamespace

import process
import testlog
from report import Row, report

HUNG = """◇ Test run started.
◇ Suite "Rows" started.
◇ Test "A row is read" started.
◇ Test "A row waits for ever" started.
◇ Test case passing 1 argument count → 20 to "A row waits for ever" started.
✔ Test "A row is read" passed after 0.1 seconds.
◇ Test "A failed save that has passed after all" started.
✔ Test "A failed save that has passed after all" with 2 test cases passed after 0.1 seconds.
◇ Test skippedRow(kind:) started.
➜ Test skippedRow(kind:) skipped.
"""
FAILED = """✘ Test "A row is read" recorded an issue at RowTests.swift:3:9: Expectation failed: 1 == 2
↳ seed COREDATA_TEST_SEED=7
✘ Test "A row is read" failed after 0.1 seconds with 1 issue.
✘ Test run with 12 tests in 3 suites failed after 0.2 seconds with 1 issue.
"""


class ProcessTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.logs = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def run_jobs(self, *commands, limit=1.0, at_once=2, remaining=lambda: 60, waits=()):
        jobs = [SimpleNamespace(name=f"job {number}", words=["bash", "-c", command], seconds=number, limit=limit / 60, environment={}, waits=command in waits)
                for number, command in enumerate(commands)]
        outcomes = process.run_all(jobs, at_once, self.logs, dict(os.environ), self.logs, remaining, lambda text: None)
        return {outcome.name: outcome for outcome in outcomes}

    def log(self, text):
        path = self.logs / "test.log"
        path.write_text(text)
        return path

    def test_a_status_and_a_log_are_kept_for_each_process(self):
        outcomes = self.run_jobs("echo done", "echo broken; exit 3")
        self.assertTrue(outcomes["job 0"].passed)
        self.assertEqual(outcomes["job 1"].status, 3)
        self.assertEqual(outcomes["job 1"].log.read_text(), "broken\n")

    def test_a_process_that_hangs_is_ended_with_all_that_it_has_begun(self):
        outcome = self.run_jobs("sleep 71 & echo $!; wait", limit=0.5)["job 0"]
        self.assertTrue(outcome.timed_out)
        self.assertFalse(outcome.passed)
        child = int(outcome.log.read_text().split()[0])
        end = time.monotonic() + 5
        while time.monotonic() < end and pathlib.Path(f"/proc/{child}/stat").exists() \
                and ") Z " not in pathlib.Path(f"/proc/{child}/stat").read_text():
            time.sleep(0.01)
        self.assertFalse(pathlib.Path(f"/proc/{child}/stat").exists() and ") Z " not in pathlib.Path(f"/proc/{child}/stat").read_text())

    def test_what_waits_for_servers_runs_beside_what_computes(self):
        meet = "touch {0}; for i in $(seq 100); do [ -e {1} ] && exit 0; sleep 0.01; done; exit 1"
        waiting = meet.format("a", "b")
        outcomes = self.run_jobs(waiting, meet.format("b", "a"), at_once=1, limit=5, waits=[waiting])
        self.assertTrue(all(outcome.passed for outcome in outcomes.values()))
        self.assertFalse(all(outcome.passed for outcome in self.run_jobs(meet.format("c", "d"), meet.format("d", "c"), at_once=1, limit=5).values()))

    def test_orphans_that_have_ended_leave_no_dead_process(self):
        process.adopt_orphans()
        outcome = self.run_jobs("(sleep 0.1 & echo $!) ; sleep 0.5")["job 0"]
        self.assertTrue(outcome.passed)
        self.assertFalse(pathlib.Path(f"/proc/{outcome.log.read_text().split()[0]}").exists())

    def test_no_process_goes_on_for_longer_than_the_whole_run(self):
        self.assertTrue(self.run_jobs("sleep 71", limit=60, remaining=lambda: 0)["job 0"].timed_out)

    def test_what_hangs_is_named_and_what_has_ended_is_not(self):
        self.assertEqual(testlog.unended(self.log(HUNG)), ['Test "A row waits for ever"'])

    def test_tests_are_counted_and_what_failed_is_shown_with_its_seed(self):
        log = self.log(FAILED)
        self.assertEqual(testlog.counted(log), (12, 1))
        self.assertIn("1 == 2", testlog.trouble(log)[0])
        self.assertIn("COREDATA_TEST_SEED=7", testlog.trouble(log)[1])

    def test_a_stage_that_leaves_processors_idle_is_named(self):
        text = report([Row("tests", "", 100, None, 0, True, 1.1), Row("build", "", 100, None, 0, True, 1.9)], 4)
        self.assertEqual([line.split()[0] for line in text.splitlines() if "idle" in line], ["tests"])


if __name__ == "__main__":
    unittest.main()
