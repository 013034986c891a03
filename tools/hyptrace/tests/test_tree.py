# SPDX-License-Identifier: GPL-2.0
"""`make tree', `make import' and `make series', on a source of five files and two topics."""

import os
import shutil
import subprocess
import tarfile

import pytest

from hyptrace.machine import TOOLS

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]
MAIL = """From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: hyptrace <hyptrace@localhost>
Date: Mon, 1 Jan 2024 00:00:00 +0000
Subject: [PATCH] numbers: line {line} is {text}

It was not.

diff --git a/dir/numbers b/dir/numbers
--- a/dir/numbers
+++ b/dir/numbers
@@ -{at},7 +{at},7 @@
{before}-{line}
+{text}
{after}"""


class Repository:
    """A repository with the driver, and what it makes."""

    def __init__(self, path):
        self.path, self.tree = path / "repo", path / "repo/build/tree"
        (self.path / "tools/hyptrace").mkdir(parents=True)
        for each in [*TOOLS.glob("*.py"), TOOLS / "deps"]:
            shutil.copy(each, self.path / "tools/hyptrace")
        (self.path / "tools/hyptrace/bases").mkdir()
        self.base("one two")
        self.source = self.make_source(path, "6.12.110")
        for topic in "one", "two":
            self.write(f"patches/{topic}/cover-letter", f"The subject of {topic}\n\nThe text.\n")
        self.patch("one", 10, "ten")
        self.patch("one", 50, "fifty")
        self.patch("two", 80, "eighty")
        self.write("include/one.h", "one\n")
        self.write("include/dir/two.h", "two\n")
        self.write("include/x.h", "x\n")
        self.write("patches/one/files", "numbers-line-10-is-ten.patch include/one.h\n"
                                        "numbers-line-50-is-fifty.patch include/dir/\n")
        self.write("patches/two/files", "numbers-line-80-is-eighty.patch include/x.h\n")
        subprocess.run(["git", "init", "-q", self.path], check=True)

    def base(self, topics):
        """The base's file."""
        self.write("tools/hyptrace/bases/6.12", "package = linux-source-6.12\noldest = 6.12.107\n"
                   f"known = 6.12.118\ntopics = {topics}\n")

    def make_source(self, path, version):
        """A source small enough to unpack in no time."""
        top = path / "linux-6.12"
        for each in "dir", "include":
            (top / each).mkdir(parents=True, exist_ok=True)
        (top / "include/theirs.h").write_text("theirs\n", "utf-8")
        numbers = version.split(".")
        (top / "Makefile").write_text(
            f"VERSION = {numbers[0]}\nPATCHLEVEL = {numbers[1]}\nSUBLEVEL = {numbers[2]}\n"
            f"kernelversion:\n\t@echo {version}\n", "utf-8")
        (top / "Kbuild").write_text("", "utf-8")
        (top / "dir/numbers").write_text("".join(f"{n}\n" for n in range(1, 101)), "utf-8")
        (top / "dir/other").write_text("text\n", "utf-8")
        with tarfile.open(path / f"{version}.tar.xz", "w:xz") as out:
            out.add(top, "linux-6.12")
        return path / f"{version}.tar.xz"

    def write(self, name, text):
        """A file of the repository."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def read(self, name):
        """The same."""
        return (self.path / name).read_text("utf-8")

    def patch(self, topic, line, text):
        """A patch of a topic that changes a line, behind the others."""
        name = f"numbers-line-{line}-is-{text}.patch"
        around = [[f" {n}\n" for n in range(line + a, line + b)] for a, b in ((-3, 0), (1, 4))]
        self.write(f"patches/{topic}/{name}", MAIL.format(
            line=line, text=text, at=line - 3, before="".join(around[0]),
            after="".join(around[1])))
        series = self.path / f"patches/{topic}/series"
        known = series.read_text("utf-8") if series.exists() else ""
        series.write_text(known + f"{name}\n", "utf-8")

    def make(self, target, expected=0, **env):
        """Make a target; what it says."""
        env = {"SOURCE": str(self.source), "PYTHONPATH": "tools"} | env
        done = subprocess.run(["/usr/bin/python3", "-B", "-m", "hyptrace", target], text=True,
                              cwd=self.path, env=os.environ | env, capture_output=True,
                              check=False)
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stderr

    def line(self, number):
        """A line of what the tree has."""
        return (self.tree / "dir/numbers").read_text("utf-8").splitlines()[number - 1]

    def state(self):
        """What the tree holds, and when each file was written."""
        return {path: path.stat().st_mtime_ns for path in self.tree.rglob("*")
                if path.is_file() and ".git" not in path.relative_to(self.tree).parts}

    def files(self):
        """All that the repository has of the series."""
        return {path: path.read_text("utf-8") for top in ("patches", "include")
                for path in (self.path / top).rglob("*") if path.is_file()}

    def git(self, *words):
        """git in build/tree, as a person."""
        env = os.environ | {"GIT_EDITOR": "true"}
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words],
                       cwd=self.tree, env=env, check=True, capture_output=True)


@pytest.fixture(name="repo")
def _repo(tmp_path):
    """One with its tree made, and the patches in the form that an import gives."""
    made = Repository(tmp_path)
    made.make("tree")
    return made


def edit(repo, name, old, new):
    """Edit a file in the tree."""
    path = repo.tree / name
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")


def test_laid(repo):
    """New files and patches are laid; a second run writes nothing, and a change what it changes."""
    assert [repo.line(n) for n in (10, 50, 80)] == ["ten", "fifty", "eighty"]
    assert (repo.tree / "include/dir/two.h").read_text("utf-8") == "two\n"
    before = repo.state()
    assert "0 written" in repo.make("tree") and repo.state() == before
    repo.write("include/one.h", "newer\n")
    assert "1 written" in repo.make("tree")
    assert [path.name for path, time in repo.state().items() if before[path] != time] == ["one.h"]
    repo.write("patches/one/series", "numbers-line-10-is-ten.patch\n")
    repo.write("patches/one/files", "numbers-line-10-is-ten.patch include/one.h\n"
                                    "numbers-line-10-is-ten.patch include/dir/two.h\n")
    repo.make("tree")
    assert [repo.line(n) for n in (10, 50)] == ["ten", "50"]


def test_topic_alone(repo):
    """A topic is laid alone; both again."""
    repo.make("tree", TOPIC="two")
    assert [repo.line(n) for n in (10, 80)] == ["10", "eighty"]
    assert not (repo.tree / "include/one.h").exists()
    repo.make("tree")
    assert repo.line(10) == "ten" and (repo.tree / "include/one.h").exists()
    assert "no topic three" in repo.make("tree", 1, TOPIC="three")


@pytest.mark.parametrize("name, old, new, said", [
    ("patches/one/numbers-line-50-is-fifty.patch", " 49\n", " x\n",
     "numbers-line-50-is-fifty.patch: patch failed: dir/numbers:47"),
    ("patches/one/numbers-line-50-is-fifty.patch", "dir/numbers", "dir/none", "dir/none"),
    ("patches/one/series", "fifty", "none", "none.patch: no such file"),
    ("patches/one/files", "include/one.h", "include/", "assign include/dir/two.h to two patches"),
    ("patches/two/files", "include/x.h", "", "is not in the series"),
    ("patches/two/files", "eighty.patch include/x.h", "eighty.patch include/none.h",
     "there is no include/none.h"),
    ("patches/two/files", "numbers-line-80-is-eighty.patch include/x.h", "",
     "assign include/x.h to no patch"),
])
def test_refused(repo, name, old, new, said):
    """A mistake is named, and the tree is as it was."""
    before = repo.state()
    text = repo.read(name)
    if not new and "numbers" not in old:
        text, new = "x.patch include/x.h\n", "include/x.h"
    repo.write(name, text.replace(old, new))
    assert said in repo.make("tree", 1) and repo.state() == before


def test_in_the_source(repo):
    """A new file that the source has, too, is named."""
    repo.write("include/theirs.h", "ours\n")
    repo.write("patches/two/files", repo.read("patches/two/files")
               + "numbers-line-80-is-eighty.patch include/theirs.h\n")
    assert "include/theirs.h is in the kernel source" in repo.make("tree", 1)


def test_conflict(repo):
    """Two topics that change the same line are named."""
    repo.patch("two", 11, "eleven")
    assert "the topics one and two conflict in dir/numbers" in repo.make("tree", 1)


@pytest.mark.parametrize("version, said", [
    ("6.12.106", "6.12.107 is the oldest supported"), ("6.12.900", "no longer applies")])
def test_versions(tmp_path, version, said):
    """A source that is too old, or too new for the patches, is named."""
    repo = Repository(tmp_path)
    repo.source = repo.make_source(tmp_path, version)
    repo.write("patches/one/numbers-line-10-is-ten.patch",
               repo.read("patches/one/numbers-line-10-is-ten.patch").replace(" 9\n", " x\n"))
    assert (said if version == "6.12.106" else "does not apply") in repo.make("tree", 1)


def test_any_file(repo, tmp_path):
    """A source has any name, as a package of Debian 12's has it."""
    repo.source = repo.source.rename(tmp_path / "linux_6.12~deb12 u1..x.tar.xz")
    assert "6.12.110" in repo.make("tree")


def test_import_of_nothing(repo):
    """Without edits nothing changes; an import's own form is kept by the next."""
    before = repo.files()
    assert "no changes" in repo.make("import") and repo.files() == before


def test_import_of_edits(repo):
    """An edit goes to the patch that last touched its lines, or adds the file; then all is laid."""
    edit(repo, "dir/numbers", "fifty\n", "FIFTY\n")
    edit(repo, "include/x.h", "x\n", "y\n")
    repo.make("import")
    assert "+FIFTY\n" in repo.read("patches/one/numbers-line-50-is-fifty.patch")
    assert "+ten\n" in repo.read("patches/one/numbers-line-10-is-ten.patch")
    assert repo.read("include/x.h") == "y\n"
    before = repo.state()
    assert "0 written" in repo.make("tree") and repo.state() == before
    after = repo.files()
    repo.make("import")
    assert repo.files() == after


def test_import_names_candidates(repo):
    """Where it is not clear whose an edit is, the candidates are named, and one can be chosen."""
    before = repo.files()
    edit(repo, "dir/numbers", "30\n", "thirty\n")
    said = repo.make("import", 1)
    assert "PATCH=one/numbers-line-10-is-ten.patch" in said
    assert "PATCH=two/numbers-line-80-is-eighty.patch" in said and repo.files() == before
    repo.make("import", PATCH="one/numbers-line-10-is-ten.patch")
    assert "+thirty\n" in repo.read("patches/one/numbers-line-10-is-ten.patch")


def test_import_of_files(repo):
    """A file that no patch touches yet, and a new file, are not lost."""
    edit(repo, "dir/other", "text", "other text")
    assert "PATCH=" in repo.make("import", 1)
    repo.make("import", PATCH="two/numbers-line-80-is-eighty.patch")
    assert "+other text\n" in repo.read("patches/two/numbers-line-80-is-eighty.patch")
    (repo.tree / "include/new.h").write_text("new\n", "utf-8")
    assert "PATCH=" in repo.make("import", 1)
    repo.make("import", PATCH="one/numbers-line-10-is-ten.patch")
    assert repo.read("include/new.h") == "new\n"
    assert "numbers-line-10-is-ten.patch include/new.h" in repo.read("patches/one/files")
    assert "0 written" in repo.make("tree")


def test_import_of_commits(repo):
    """A new patch arrives; so do one that is dropped, and one that is moved."""
    edit(repo, "dir/numbers", "30\n", "thirty\n")
    repo.git("commit", "-qam", "numbers: Line 30")
    assert "TOPIC=one|two" in repo.make("import", 1)
    repo.make("import", TOPIC="one")
    assert repo.read("patches/one/series").endswith("fifty.patch\nnumbers-Line-30.patch\n")
    repo.git("checkout", "-q", "one")
    repo.git("rebase", "-q", "--onto", "HEAD~3", "HEAD~2")
    repo.make("import")
    assert repo.read("patches/one/series") == ("numbers-line-50-is-fifty.patch\n"
                                               "numbers-Line-30.patch\n")
    assert not (repo.path / "include/one.h").exists() and repo.line(10) == "10"


def test_edits_are_kept(repo):
    """`make tree' does not take what was edited or committed there and is not imported."""
    edit(repo, "dir/numbers", "fifty\n", "FIFTY\n")
    repo.write("include/one.h", "newer\n")
    repo.make("tree")
    assert repo.line(50) == "FIFTY" and (repo.tree / "include/one.h").read_text() == "newer\n"
    repo.git("commit", "-qam", "x")
    assert "make import" in repo.make("tree", 1)


def test_series(repo, tmp_path):
    """The mails of a topic, applied to the source alone, give its tree."""
    repo.make("series", OUT=str(tmp_path / "mails"))
    mails = sorted((tmp_path / "mails/one").iterdir())
    assert [each.name[:4] for each in mails] == ["0000", "0001", "0002"]
    assert "Subject: [PATCH 0/2] The subject of one" in mails[0].read_text("utf-8")
    assert "include/dir/two.h" in mails[2].read_text("utf-8")
    repo.make("tree", TOPIC="one")
    plain = tmp_path / "linux-6.12"
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "source"], ["am", *mails[1:]]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words],
                       cwd=plain, check=True, capture_output=True)
    left = subprocess.run(["diff", "-r", "-x", ".git", plain, repo.tree], check=False,
                          capture_output=True, text=True)
    assert left.returncode == 0, left.stdout


def test_signoff(repo, tmp_path):
    """SIGNOFF=1 adds the Signed-off-by of whoever exports."""
    for name, value in ("user.name", "A Person"), ("user.email", "person@localhost"):
        subprocess.run(["git", "-C", repo.path, "config", name, value], check=True)
    repo.make("series", OUT=str(tmp_path / "mails"), SIGNOFF="1")
    text = next((tmp_path / "mails/two").glob("0001-*")).read_text("utf-8")
    assert "Signed-off-by: A Person <person@localhost>" in text


def test_cover_letter(repo):
    """A topic without one is refused."""
    (repo.path / "patches/two/cover-letter").unlink()
    assert "no patches/two/cover-letter" in repo.make("series", 1)
