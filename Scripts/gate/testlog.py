"""Reads what the tests of a process printed."""
import re

BEGUN = re.compile(r"^\S+ (Test|Suite) (.+) started\.$")
# A name in quotation marks may have any of these words itself.
ENDED = re.compile(r'^\S+ (Test|Suite) (".*"|\S+)(?: with \d+ test cases?)? (?:passed after|failed after|skipped)')
TOTAL = re.compile(r"^\S+ Test run with (\d+) tests?(?: in \d+ suites?)? (passed|failed) after")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
FAILED_TEST = re.compile(r"^\S+ Test (.+?)(?: with \d+ test cases?)? failed after")
TROUBLE = re.compile(r"recorded an issue|[Ff]atal error|unexpected signal|ThreadSanitizer:|error:")


def lines(log):
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            yield ESCAPES.sub("", line.rstrip("\n"))


def unended(log):
    """Returns the names of tests and suites that have begun and not ended."""
    open_names = {}
    for line in lines(log):
        if " Test case " in line[:14]:
            continue
        if match := BEGUN.match(line):
            open_names[f"{match[1]} {match[2]}"] = True
        elif match := ENDED.match(line):
            open_names.pop(f"{match[1]} {match[2]}", None)
    tests = [name for name in open_names if name.startswith("Test ") and not name.startswith("Test run")]
    return tests or list(open_names)


def counted(log):
    """Returns how many tests ran and how many of those failed."""
    ran = failed = 0
    for line in lines(log):
        if match := TOTAL.match(line):
            ran += int(match[1])
        elif FAILED_TEST.match(line):
            failed += 1
    return ran, failed


def trouble(log, most=60):
    """Returns the lines that say what failed, with those that explain them; the last lines where there are none."""
    found, follows = [], 0
    last = []
    for line in lines(log):
        last = (last + [line])[-15:]
        if TROUBLE.search(line):
            found.append(line[:2000])
            follows = 8
        elif follows and re.match(r"^\S* *↳|.*(COREDATA_TEST_SEED|SIMULATION)", line):
            found.append(line[:2000])
            follows -= 1
        else:
            follows = 0
    return (found or last)[-most:]


def seeds(log):
    """Returns the seeds that the tests printed."""
    return sorted({match for line in lines(log) for match in re.findall(r"COREDATA_TEST_SEED=\d+", line)})
