"""What the gate asks of git."""
import hashlib
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TURNS = ".ci/turns"


def git(*words, root=ROOT):
    """Returns what a command of git prints, without the end of the last line."""
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.rstrip("\n")


def last_turn():
    """Returns the commit that wrote the newest line of the turns, or None."""
    return git("log", "-1", "--format=%H", "--", TURNS) or None


def head():
    return git("rev-parse", "HEAD")


def is_clean():
    return git("status", "--porcelain") == ""


def changed_files(since):
    """Returns the paths that differ between a commit and HEAD; None where the commit is not at hand."""
    try:
        return git("diff", "--name-only", since, "HEAD").splitlines()
    except subprocess.CalledProcessError:
        return None


def seed():
    """Returns the seed of all random tests of this commit: it follows from the tree of HEAD, without the turns, so that the rehearsal of a
    submission is its gate."""
    lines = [line for line in git("ls-tree", "-r", "HEAD").splitlines() if not line.endswith("\t" + TURNS)]
    return int.from_bytes(hashlib.sha256("\n".join(lines).encode()).digest()[:8], "big")
