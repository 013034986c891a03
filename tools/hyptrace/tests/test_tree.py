# SPDX-License-Identifier: GPL-2.0
"""`make tree', `make import' and `make series', on a source of five files and two topics."""

import os
import shutil

import pytest

from hyptrace.machine import TOOLS
from hyptrace.process import run

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]
MAIL = """From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: hyptrace <hyptrace@localhost>
Date: Mon, 1 Jan 2024 00:00:00 +0000
Subject: [PATCH] numbers: line {line} is {text}

It was not.

diff --git a/dir/numbers b/dir/numbers
--- a/dir/numbers
+++ b/dir/numbers
@@ -{before},3 +{before},3 @@
 {before}
-{line}
+{text}
 {after}
"""
TEN, FIFTY, EIGHTY = (f"numbers-line-{line}.patch" for line in ("10-is-ten", "50-is-fifty",
                                                               "80-is-eighty"))
# What the repository has, and what the kernel's source
FILES = {
    "tools/hyptrace/bases/6.12": "package = linux-source-6.12\noldest = 6.12.107\n"
                                 "known = 6.12.118\ntopics = one two\n",
    "include/one.h": "one\n", "include/dir/two.h": "two\n", "include/x.h": "x\n",
    "patches/one/one.cover": "The subject of one\n\nThe text.\n",
    "patches/one/files": f"{TEN} include/one.h\n{FIFTY} include/dir/two.h\n",
    "patches/two/files": f"{EIGHTY} include/x.h\n",
}
SOURCE = {
    "Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 110\n", "include/theirs.h": "theirs\n",
    "dir/numbers": "".join(f"{n}\n" for n in range(1, 101)), "dir/other": "text\n",
    ".gitignore": "/*\n!/debian/\n",    # as Debian has it
}


def write(top, files):
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, "utf-8")


def git(*words, at):
    run(["git", "-c", "user.name=A Person", "-c", "user.email=person@localhost", *words], cwd=at)


class Repository:
    """A repository with the driver, and what it makes."""

    def __init__(self, top):
        self.path, self.tree, self.source = top / "repo", top / "repo/build/tree", top / "x.tar"
        write(self.path, FILES)
        for each in [*TOOLS.glob("*.py"), TOOLS / "deps"]:
            shutil.copy(each, self.path / "tools/hyptrace")
        for topic, line, text in ("one", 10, "ten"), ("one", 50, "fifty"), ("two", 80, "eighty"):
            self.patch(topic, line, text)
        for words in "init -q", "config user.name Someone", "config user.email a@localhost":
            git(*words.split(), at=self.path)
        write(top / "linux", SOURCE)
        run(["tar", "-cf", self.source, "linux"], cwd=top)

    def patch(self, topic, line, text):
        """A patch of a topic that changes a line, behind the others."""
        name = f"numbers-line-{line}-is-{text}.patch"
        mail = MAIL.format(line=line, text=text, before=line - 1, after=line + 1)
        write(self.path / f"patches/{topic}", {name: mail})
        with open(self.path / f"patches/{topic}/series", "a", encoding="utf-8") as series:
            series.write(f"{name}\n")

    def read(self, name):
        return (self.path / name).read_text("utf-8")

    def make(self, target, expected=0, **env):
        """Make a target; what it says."""
        done = run(["/usr/bin/python3", "-B", "-m", "hyptrace", target], cwd=self.path, check=False,
                   env=os.environ | {"SOURCE": str(self.source), "PYTHONPATH": "tools"} | env)
        assert done.returncode == expected, done.stdout
        return done.stdout

    def lines(self, *numbers):
        lines = (self.tree / "dir/numbers").read_text("utf-8").splitlines()
        return [lines[number - 1] for number in numbers]

    def state(self):
        """All that the repository has of the series, and the tree, and when it was written."""
        return {path: (path.read_text("utf-8"), path.stat().st_mtime_ns * (top == "build/tree"))
                for top in ("patches", "include", "build/tree")
                for path in (self.path / top).rglob("*")
                if path.is_file() and ".git" not in path.parts}

    def edit(self, name, old, new):
        write(self.tree, {name: (self.tree / name).read_text("utf-8").replace(old, new, 1)})


@pytest.fixture(name="repo")
def _repo(tmp_path):
    """One with its tree made."""
    made = Repository(tmp_path)
    assert "6.12.110, 3 patches, 3 new files" in made.make("tree")
    return made


def test_laid(repo):
    """A second run writes nothing, and a change what it changes; a topic can be laid alone."""
    assert repo.lines(10, 50, 80) == ["ten", "fifty", "eighty"]
    write(repo.tree, {"tools/arch/arm64/include/generated/of-perf.h": "int i;\n"})
    before = repo.state()
    assert "0 written" in repo.make("tree") and "nothing" in repo.make("import")
    assert repo.state() == before
    write(repo.path, {"include/one.h": "newer\n"})
    assert "1 written" in repo.make("tree")
    assert {path.name for path, kept in repo.state().items() if before[path] != kept} == {"one.h"}
    repo.make("tree", TOPIC="two")
    assert repo.lines(10, 80) == ["10", "eighty"] and not (repo.tree / "include/one.h").exists()


@pytest.mark.parametrize("name, old, new, said", [
    (f"one/{FIFTY}", " 49\n", " x\n", f"one/{FIFTY} does not apply\nerror: patch failed"),
    ("one/files", "dir/two.h", "one.h", "assign include/one.h to two patches"),
    ("two/files", "/x.h", "/none.h", f"no such patch or file: {EIGHTY} include/none.h"),
    ("two/files", f"{EIGHTY} include/x.h", "", "assign include/x.h to no patch"),
    (f"two/{EIGHTY}", "@@ -79,3 +79,3 @@\n 79\n-80\n+eighty\n 81\n",
     "@@ -10,3 +10,3 @@\n 10\n-11\n+eleven\n 12\n", "topics one and two conflict in dir/numbers"),
], ids="apply twice file none conflict".split())
def test_refused(repo, name, old, new, said):
    """A mistake, or a conflict of topics, is named, and the tree is as it was."""
    write(repo.path / "patches", {name: repo.read(f"patches/{name}").replace(old, new)})
    before = repo.state()
    assert said in repo.make("tree", 1) and repo.state() == before


def test_import_of_edits(repo):
    """An edit goes to the patch that last touched its lines, or adds the file."""
    for name, old, new in [("dir/numbers", "fifty\n", "FIFTY\nMORE\n"), ("include/x.h", "x", "y"),
                           ("dir/numbers", "eighty", "EIGHTY"), ("dir/numbers", "ten", "TEN")]:
        repo.edit(name, old, new)
    (repo.tree / "include/dir/two.h").rename(repo.tree / "include/dir/three.h")
    repo.make("import")
    for name, text in (f"one/{TEN}", "TEN"), (f"one/{FIFTY}", "FIFTY\n+MORE"), (
            f"two/{EIGHTY}", "EIGHTY"):
        assert f"-{name[17:19]}\n+{text}\n" in repo.read(f"patches/{name}")
    assert repo.read("include/x.h") == "y\n" and repo.read("include/dir/three.h") == "two\n"
    assert not (repo.path / "include/dir/two.h").exists()
    state = repo.state()
    assert "0 written" in repo.make("tree") and "nothing" in repo.make("import")
    assert repo.state() == state


@pytest.mark.parametrize("name, text, where, kept", [
    ("dir/numbers", SOURCE["dir/numbers"].replace("30\n", "thirty\n"), f"one/{TEN}", "+thirty\n"),
    ("dir/other", "other text\n", f"two/{EIGHTY}", "+other text\n"),
    ("include/new.h", "new\n", f"one/{TEN}", "")], ids="line file new".split())
def test_import_names_candidates(repo, name, text, where, kept):
    """Where it is not clear whose an edit is, candidates are named, and one can be chosen."""
    for line, word in ((10, "ten"), (50, "fifty"), (80, "eighty")):
        text = text.replace(f"\n{line}\n", f"\n{word}\n")
    write(repo.tree, {name: text})
    before = repo.state()
    assert f"PATCH={where}" in repo.make("import", 1) and repo.state() == before
    repo.make("import", PATCH=where)
    assert kept in repo.read(f"patches/{where}") and "0 written" in repo.make("tree")
    assert kept or (f"{TEN} {name}" in repo.read("patches/one/files") and repo.read(name) == text)


def test_import_of_commits(repo):
    """A new patch arrives, with a fixup of another one; so does one that is dropped. A new file at
    a place that has none is refused."""
    write(repo.tree, {"new": "new\n"})
    assert "new: a new file is in arch" in repo.make("import", 1)
    (repo.tree / "new").unlink()
    write(repo.tree, {"include/dir/new.h": "new\n"})
    repo.edit("dir/numbers", "30\n", "thirty\n")
    git("add", "-Af", at=repo.tree)
    git("commit", "-qm", "numbers: Line 30", at=repo.tree)
    assert "TOPIC=one|two" in repo.make("import", 1)
    repo.edit("dir/numbers", "eighty\n", "EIGHTY\n")
    git("commit", "-qam", "fixup! numbers: line 80 is eighty", at=repo.tree)
    repo.make("import", TOPIC="one")
    assert repo.read("patches/one/series").endswith(f"{FIFTY}\nnumbers-Line-30.patch\n")
    assert "numbers-Line-30.patch include/dir/new.h\n" in repo.read("patches/one/files")
    assert "+EIGHTY\n" in repo.read(f"patches/two/{EIGHTY}")
    git("checkout", "-q", "one", at=repo.tree)
    git("rebase", "-q", "--onto", "HEAD~3", "HEAD~2", at=repo.tree)
    repo.make("import")
    assert repo.read("patches/one/series") == f"{FIFTY}\nnumbers-Line-30.patch\n"
    assert not (repo.path / "include/one.h").exists() and repo.lines(10) == ["10"]


def test_edits_are_kept(repo):
    """Neither `make tree' nor `make import' overwrites what was changed and is not taken over."""
    repo.edit("dir/numbers", "fifty\n", "FIFTY\n")
    write(repo.path, {"include/one.h": "newer\n"})
    assert "have changes that build/tree has not" in repo.make("import", 1)
    assert repo.read("include/one.h") == "newer\n"
    repo.make("tree")
    assert repo.lines(50) == ["FIFTY"]
    assert (repo.tree / "include/one.h").read_text("utf-8") == "newer\n"
    write(repo.path, {"include/one.h": "newest\n"})
    repo.edit("include/one.h", "newer", "edited")
    assert "edits in the way" in repo.make("tree", 1)
    assert "have changes that build/tree has not" in repo.make("import", 1)
    git("commit", "-qam", "x", at=repo.tree)
    assert "make import" in repo.make("tree", 1)
    assert (repo.tree / "include/one.h").read_text("utf-8") == "edited\n"


def test_series(repo, tmp_path):
    """The mails have a cover letter or stand alone, and the exporter's Signed-off-by."""
    given = {"OUT": str(tmp_path / "mails"), "TOPIC": "one", "SIGNOFF": "1"}
    repo.make("series", **given)
    mails = sorted((tmp_path / "mails/one/1-one").iterdir())
    assert [each.name[:4] for each in mails] == ["0000", "0001", "0002"]
    cover = mails[0].read_text("utf-8")
    assert "Subject: [PATCH 0/2] The subject of one" in cover
    assert "\n  numbers: line 10 is ten\n  numbers: line 50 is fifty\n" in cover
    assert "Signed-off-by: Someone <a@localhost>" in mails[2].read_text("utf-8")
    write(repo.path, {"patches/one/parts": f"alone {TEN}\nrest nothing.patch\n"})
    assert "patches/one/parts: no such patch: nothing.patch" in repo.make("series", 1, **given)
    write(repo.path, {"patches/one/parts": f"alone {TEN}\none {FIFTY}\n"})
    repo.make("series", **given)
    mail, = (tmp_path / "mails/one/1-alone").iterdir()
    assert "Subject: [PATCH] " in mail.read_text("utf-8")
    assert len(list((tmp_path / "mails/one/2-one").iterdir())) == 2


@pytest.fixture(name="other")
def _other(repo, tmp_path):
    """The repository and a source of another base, where lines have moved and line 50 is other; the
    tree is made with the twin of a mail and a line in a new file. What a target gives there."""
    write(repo.path, {"tools/hyptrace/bases/7.3": "package = linux-source-7.3\n"
                      "suite = trixie-backports\noldest = 7.3.1\nknown = 7.3.4\ntopics = one\n"})
    newer = SOURCE["dir/numbers"].replace("50\n", "other\n")
    write(tmp_path / "7.3/linux", SOURCE | {"dir/numbers": "0\n" * 9 + newer, "Makefile":
                                            "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n"})
    run(["tar", "-cf", tmp_path / "7.tar", "linux"], cwd=tmp_path / "7.3")
    repo.other = {"BASE": "7.3", "SOURCE": str(tmp_path / "7.tar")}
    assert f"patches/one/{FIFTY} does not apply" in repo.make("tree", 1, **repo.other)
    write(repo.path / "patches/one/7.3", {
        FIFTY: repo.read(f"patches/one/{FIFTY}").replace("-50\n", "-other\n"),
        "files.patch": "--- a/include/one.h\n+++ b/include/one.h\n@@ -1 +1,2 @@\n one\n+more\n"})
    assert "build/7.3/tree: 7.3.4, 2 patches, 2 new" in repo.make("tree", **repo.other)
    repo.kept, repo.tree = repo.state(), repo.path / "build/7.3/tree"
    return repo


def test_bases(other):
    """What is made for two bases stands side by side. An import without edits changes nothing."""
    assert other.lines(19, 59, 89) == ["ten", "fifty", "80"]
    assert (other.tree / "include/one.h").read_text("utf-8") == "one\nmore\n"
    assert "nothing" in other.make("import", **other.other)
    assert "0 written" in other.make("tree") and "nothing" in other.make("import")
    assert other.state() == other.kept and other.read("include/one.h") == "one\n"
    assert "no base 8.0: see tools/hyptrace/bases" in other.make("tree", 1, BASE="8.0")


def test_import_of_a_base(other):
    """An edit there becomes a twin, or changes one; what others have stays."""
    other.edit("dir/numbers", "ten\n", "TEN\n")
    other.edit("include/dir/two.h", "two\n", "two\nthree\n")
    other.make("import", **other.other)
    assert "-10\n+TEN\n" in other.read(f"patches/one/7.3/{TEN}")
    assert "+more\n" in other.read("patches/one/7.3/files.patch")
    assert " two\n+three\n" in other.read("patches/one/7.3/files.patch")
    other.edit("include/dir/two.h", "three\n", "")
    other.edit("include/one.h", "more\n", "")
    other.make("import", **other.other)
    assert not (other.path / "patches/one/7.3/files.patch").exists()
    assert not (other.path / "dir").exists()    # what is the kernel's stays in its tree
    made = {path: kept for path, kept in other.state().items()
            if "patches/one/7.3" not in str(path)}
    assert made == {path: kept for path, kept in other.kept.items() if path in made}


def test_import_of_commits_of_a_base(other):
    """A mail that only one base has, and one that it leaves out, are said in the lists."""
    write(other.tree, {"include/new.h": "new\n"})
    other.edit("dir/numbers", "30\n", "thirty\n")
    git("add", "-Af", at=other.tree)
    git("commit", "-qm", "numbers: Line 30", at=other.tree)
    other.make("import", TOPIC="one", **other.other)
    git("checkout", "-q", "one", at=other.tree)
    git("rebase", "-q", "--onto", "HEAD~3", "HEAD~2", at=other.tree)
    other.make("import", **other.other)
    assert other.read("patches/one/series") == f"{TEN} 6.12\n{FIFTY}\nnumbers-Line-30.patch 7.3\n"
    assert other.read("patches/one/files") == (
        f"{TEN} include/one.h 6.12\n{FIFTY} include/dir/two.h\n"
        "numbers-Line-30.patch include/new.h 7.3\n")
    assert "+thirty" in other.read("patches/one/7.3/numbers-Line-30.patch")
    assert other.lines(19, 39) == ["10", "thirty"] and "0 written" in other.make("tree")
    assert not (other.path / "build/tree/include/new.h").exists()
    other.tree = other.path / "build/tree"
    git("checkout", "-q", "one", at=other.tree)
    git("reset", "-q", "--hard", "HEAD~1", at=other.tree)
    other.make("import")
    assert other.read("patches/one/series").splitlines()[1] == f"{FIFTY} 7.3"
    assert "0 written" in other.make("tree", **other.other)
