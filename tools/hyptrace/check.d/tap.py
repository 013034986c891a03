# SPDX-License-Identifier: GPL-2.0
"""What a test's TAP says, and the same as JUnit's XML."""

import re
import xml.etree.ElementTree as xml

COMMENTS = 30  # that are shown of those next to a failure


class Result:
    """What is counted of a test: its cases, and what was wrong besides."""

    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.seconds = 0
        self.cases = []     # (title, state, text), the state being pass, fail, skip
        self.failures = []  # (what, lines of comments)
        self.skips = []

    @property
    def failed(self):
        """Failures, each a case or another fault of the test."""
        return len(self.failures)

    def fail(self, what, comments=()):
        """A failure, with the comments next to it, to which more may be added."""
        self.failures.append((what, list(comments)[-COMMENTS:]))
        self.cases.append((what, "fail", self.failures[-1][1]))


def is_skip(line):
    """A case that did not run."""
    return bool(re.match(r"ok\b.*# *skip", line, re.I))


def read_line(result, line, comments):
    """Take one line that is not a comment; comments are those right before it."""
    if line.startswith("ok"):
        if is_skip(line):
            result.skips.append(line)
            result.cases.append((line, "skip", []))
        else:
            result.passed += 1
            result.cases.append((line, "pass", []))
    elif line.startswith("1..0"):
        result.skips.append(line)
    elif line.startswith(("not ok", "Bail out!")):
        result.fail(line, comments)


def check_plan(result, lines, status):
    """A test that dies, or does not keep its plan, is one failed, whatever it printed."""
    plans = [line for line in lines if re.match(r"1\.\.\d+", line)]
    seen = sum(bool(re.match(r"(not )?ok\b", line)) for line in lines)
    if not plans:
        result.fail("no plan")
    elif seen != int(re.match(r"1\.\.(\d+)", plans[-1]).group(1)):
        result.fail(f"planned {plans[-1][3:]} tests, ran {seen}")
    elif status != 0 and not result.failures:
        result.fail(f"exit status {status}")


def read(name, text, status):
    """Count a test's TAP. Indented lines are a subtest's. Status None: the time limit has
    ended the test, and what it printed counts."""
    result = Result(name)
    lines = [line.rstrip("\r") for line in text.splitlines()]
    before, after = [], None
    for line in lines:
        if line.startswith("#"):
            if after is not None and len(after) < 2 * COMMENTS:
                after.append(line)
            else:
                before.append(line)
        elif re.match(r"(not )?ok\b|1\.\.\d|Bail out!", line):
            read_line(result, line, before)
            failed = line.startswith(("not ok", "Bail out!"))
            before, after = [], result.failures[-1][1] if failed else None
    if status is not None:
        check_plan(result, lines, status)
    return result


def clean(text):
    """XML has no control characters."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)


def junit(results, not_begun):
    """The results as JUnit's XML."""
    root = xml.Element("testsuites")
    for result in results:
        suite = xml.SubElement(root, "testsuite", name=result.name, time=str(result.seconds),
                               tests=str(len(result.cases)), failures=str(result.failed),
                               skipped=str(sum(c[1] == "skip" for c in result.cases)))
        for title, state, text in result.cases:
            case = xml.SubElement(suite, "testcase", classname=result.name,
                                  name=clean(re.sub(r"^(not )?ok \d* *-? *", "", title)))
            if state == "fail":
                xml.SubElement(case, "failure", message=clean(title)).text = clean("\n".join(text))
            elif state == "skip":
                xml.SubElement(case, "skipped", message=clean(title))
    for name, why in not_begun:
        suite = xml.SubElement(root, "testsuite", name=name, tests="1", skipped="1")
        case = xml.SubElement(suite, "testcase", classname=name, name="not begun")
        xml.SubElement(case, "skipped", message=clean(why))
    xml.indent(root)
    return xml.ElementTree(root)
