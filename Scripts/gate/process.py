"""Runs processes with limits, and tells what they cost and what hangs."""
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass
class Outcome:
    """What came of a process."""

    name: str
    status: int
    seconds: float
    # Of the process and its children that it waited for.
    processor: float
    log: pathlib.Path
    timed_out: bool = False

    @property
    def passed(self):
        return self.status == 0


class Running:
    """A process that writes to a log of its own."""

    def __init__(self, name, words, log, limit, environment, folder):
        self.name, self.log, self.words = name, log, words
        self.began = time.monotonic()
        self.deadline = self.began + limit
        self.timed_out = False
        self.output = open(log, "wb")
        # A session of its own, so that all that it starts can be ended with it.
        self.process = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)

    def poll(self):
        """Returns the outcome if the process has ended or its limit is over, otherwise None."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0:
            if time.monotonic() < self.deadline:
                return None
            self.timed_out = True
            end_tree(self.process.pid)
            pid, status, usage = os.wait4(self.process.pid, 0)
        self.output.close()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return Outcome(
            self.name, self.process.returncode if not self.timed_out else 124, time.monotonic() - self.began, usage.ru_utime + usage.ru_stime,
            self.log, self.timed_out)


def adopt_orphans():
    """Lets children of children that have ended become children of this process, where the system can do that: they are ended at the end."""
    if sys.platform == "linux":
        pr_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def reap_orphans(own):
    """Takes note of adopted children that have ended, so that nobody who looks for them finds a dead one; `own` are children with a status that counts."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid in own:
            return
        os.waitpid(ended.si_pid, 0)


def descendants(pid):
    """Returns the processes that a process has begun, and those that they have."""
    children = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = entry.read_text()
        except OSError:
            continue
        parent = int(text[text.rindex(")") + 2:].split()[1])
        children.setdefault(parent, []).append(int(entry.parent.name))
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def end_tree(pid):
    """Ends a process and all that it has begun."""
    for process in [pid, *descendants(pid)]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_orphans():
    """Ends what the processes of the run have left behind."""
    for process in descendants(os.getpid()):
        try:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def run_all(jobs, at_once, log_folder, environment, folder, remaining, said=print):
    """Runs jobs, at most so many at once besides those that wait, those that take longest first, and returns their outcomes.

    A job has a name, words, expected seconds, a limit in minutes, and says whether it waits more than it computes. `remaining` returns how many seconds
    the whole run has left; no job goes on for longer.
    """
    waiting = sorted(jobs, key=lambda job: (not job.waits, -job.seconds))
    running, outcomes, light = [], [], {job.name for job in jobs if job.waits}
    while waiting or running:
        while waiting and (waiting[0].waits or sum(process.name not in light for process in running) < at_once):
            job = waiting.pop(0)
            log = log_folder / (re.sub(r"[^A-Za-z0-9]+", "-", job.name).strip("-") + ".log")
            said(f"   {job.name} …")
            limit = max(1, min(job.limit * 60, remaining()))
            running.append(Running(job.name, job.words, log, limit, {**environment, **job.environment}, folder))
        for process in list(running):
            outcome = process.poll()
            if outcome is None:
                continue
            running.remove(process)
            outcomes.append(outcome)
            said(f"   {outcome.name}: {'passed' if outcome.passed else 'failed'} ({outcome.seconds:.0f} s, "
                 f"{outcome.processor / max(outcome.seconds, 0.1):.1f} processors)")
        reap_orphans({process.process.pid for process in running})
        time.sleep(0.05)
    return outcomes


class Processors:
    """How many of the machine's processors are used over a time."""

    def __init__(self):
        self.began, self.busy = time.monotonic(), self.ticks()

    @staticmethod
    def ticks():
        try:
            fields = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
        except OSError:
            return None
        # Without idle time and waiting for disks.
        return sum(fields) - fields[3] - fields[4]

    def used(self):
        """Returns the average since the beginning, or None where the system does not tell."""
        now, seconds = self.ticks(), time.monotonic() - self.began
        if now is None or self.busy is None or seconds <= 0:
            return None
        return (now - self.busy) / os.sysconf("SC_CLK_TCK") / seconds
