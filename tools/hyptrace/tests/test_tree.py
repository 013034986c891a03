# SPDX-License-Identifier: GPL-2.0
"""`make tree', `make import' and `make series', on a source of five files and two topics."""

import os
import re
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
TEN, FIFTY, EIGHTY = (f"numbers-line-{line}.patch" for line in ("10-is-ten", "50-is-fifty",
                                                               "80-is-eighty"))
# What the repository has, and what the kernel's source
FILES = {
    "tools/hyptrace/bases/6.12": "package = linux-source-6.12\noldest = 6.12.107\n"
                                 "known = 6.12.118\ntopics = one two\n",
    "include/one.h": "one\n", "include/dir/two.h": "two\n", "include/x.h": "x\n",
    "patches/one/one.cover": "The subject of one\n\nThe text.\n",
    "patches/one/files": f"{TEN} include/one.h\n{FIFTY} include/dir/\n",
    "patches/two/files": f"{EIGHTY} include/x.h\n",
}
SOURCE = {
    "Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 110\n", "include/theirs.h": "theirs\n",
    "dir/numbers": "".join(f"{n}\n" for n in range(1, 101)), "dir/other": "text\n",
}


def write(top, files):
    """Files with their texts, in a directory."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, "utf-8")


def git(*words, at):
    """git, as a person"""
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words], cwd=at,
                   env=os.environ | {"GIT_EDITOR": "true"}, check=True, capture_output=True)


class Repository:
    """A repository with the driver, and what it makes."""

    def __init__(self, top):
        self.path, self.tree = top / "repo", top / "repo/build/tree"
        write(self.path, FILES)
        for each in [*TOOLS.glob("*.py"), TOOLS / "deps"]:
            shutil.copy(each, self.path / "tools/hyptrace")
        for topic, line, text in ("one", 10, "ten"), ("one", 50, "fifty"), ("two", 80, "eighty"):
            self.patch(topic, line, text)
        git("init", "-q", self.path, at=top)
        write(top / "linux", SOURCE)
        # As long a name as a package of Debian 12's has
        self.source = top / "linux_6.12~deb12 u1..x.tar.xz"
        with tarfile.open(self.source, "w:xz") as out:
            out.add(top / "linux", "linux")

    def patch(self, topic, line, text):
        """A patch of a topic that changes a line, behind the others."""
        name = f"numbers-line-{line}-is-{text}.patch"
        before, after = ("".join(f" {n}\n" for n in range(line + a, line + b))
                         for a, b in ((-3, 0), (1, 4)))
        write(self.path / f"patches/{topic}", {name: MAIL.format(
            line=line, text=text, at=line - 3, before=before, after=after)})
        with open(self.path / f"patches/{topic}/series", "a", encoding="utf-8") as series:
            series.write(f"{name}\n")

    def read(self, name):
        """A file of the repository."""
        return (self.path / name).read_text("utf-8")

    def make(self, target, expected=0, **env):
        """Make a target; what it says."""
        env = {"SOURCE": str(self.source), "PYTHONPATH": "tools"} | env
        done = subprocess.run(["/usr/bin/python3", "-B", "-m", "hyptrace", target], text=True,
                              cwd=self.path, env=os.environ | env, capture_output=True,
                              check=False)
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stderr

    def lines(self, *numbers):
        """Lines of what the tree has."""
        lines = (self.tree / "dir/numbers").read_text("utf-8").splitlines()
        return [lines[number - 1] for number in numbers]

    def state(self):
        """What the tree holds, and when each file was written."""
        return {path: path.stat().st_mtime_ns for path in self.tree.rglob("*")
                if path.is_file() and ".git" not in path.relative_to(self.tree).parts}

    def files(self):
        """All that the repository has of the series."""
        return {path: path.read_text("utf-8") for top in ("patches", "include")
                for path in (self.path / top).rglob("*") if path.is_file()}

    def edit(self, name, old, new):
        """Edit a file in the tree."""
        write(self.tree, {name: (self.tree / name).read_text("utf-8").replace(old, new, 1)})


@pytest.fixture(name="repo")
def _repo(tmp_path):
    """One with its tree made."""
    made = Repository(tmp_path)
    assert "6.12.110, 3 patches, 3 new files" in made.make("tree")
    return made


def test_laid(repo):
    """New files and patches are laid; a second run writes nothing, and a change what it changes;
    a topic can be laid alone."""
    assert repo.lines(10, 50, 80) == ["ten", "fifty", "eighty"]
    assert (repo.tree / "include/dir/two.h").read_text("utf-8") == "two\n"
    before = repo.state()
    assert "0 written" in repo.make("tree") and repo.state() == before
    write(repo.path, {"include/one.h": "newer\n"})
    assert "1 written" in repo.make("tree")
    assert [path.name for path, time in repo.state().items() if before[path] != time] == ["one.h"]
    write(repo.path, {"patches/one/series": f"{TEN}\n",
                      "patches/one/files": f"{TEN} include/one.h\n"
                      f"{TEN} include/dir/two.h\n"})
    repo.make("tree")
    assert repo.lines(10, 50) == ["ten", "50"]
    repo.make("tree", TOPIC="two")
    assert repo.lines(10, 80) == ["10", "eighty"] and not (repo.tree / "include/one.h").exists()
    repo.make("tree")
    assert repo.lines(10) == ["ten"] and (repo.tree / "include/one.h").exists()
    assert "no topic three" in repo.make("tree", 1, TOPIC="three")


@pytest.mark.parametrize("name, old, new, said", [
    (f"one/{FIFTY}", " 49\n", " x\n", f"one/{FIFTY} does not apply\nerror: patch failed"),
    ("one/series", "fifty", "none", "none.patch: no such file"),
    ("one/files", "include/one.h", "include/", "assign include/dir/two.h to two patches"),
    ("two/files", EIGHTY, "none.patch", "no such patch or file: none.patch include/x.h"),
    ("two/files", "/x.h", "/none.h", f"no such patch or file: {EIGHTY} include/none.h"),
    ("two/files", f"{EIGHTY} include/x.h", "", "assign include/x.h to no patch"),
    ("two/files", "include/x.h", "include/", "include/theirs.h: already exists in index"),
], ids="apply series twice patch file none source".split())
def test_refused(repo, name, old, new, said):
    """A mistake is named, and the tree is as it was."""
    before = repo.state()
    write(repo.path / "patches", {name: repo.read(f"patches/{name}").replace(old, new)})
    if "theirs" in said:
        write(repo.path, {"include/theirs.h": "ours\n", "patches/one/files": ""})
    assert said in repo.make("tree", 1) and repo.state() == before


def test_conflict(repo):
    """Two topics that change the same line are named."""
    repo.patch("two", 11, "eleven")
    assert "the topics one and two conflict in dir/numbers" in repo.make("tree", 1)


def test_import_of_edits(repo):
    """An edit goes to the patch that last touched its lines, or adds the file. What an import
    gives is laid, and is imported as it is."""
    before = repo.files()
    assert "no changes" in repo.make("import") and repo.files() == before
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
    state, files = repo.state(), repo.files()
    assert "0 written" in repo.make("tree") and repo.state() == state
    assert "no changes" in repo.make("import") and repo.files() == files


def test_import_names_candidates(repo):
    """Where it is not clear whose an edit is, the candidates are named, and one can be chosen: for
    a line, for a file that no patch touches, and for a new file."""
    before = repo.files()
    repo.edit("dir/numbers", "30\n", "thirty\n")
    said = repo.make("import", 1)
    assert f"PATCH=one/{TEN}" in said and f"PATCH=two/{EIGHTY}" in said and repo.files() == before
    repo.make("import", PATCH=f"one/{TEN}")
    assert "+thirty\n" in repo.read(f"patches/one/{TEN}")
    repo.edit("dir/other", "text", "other text")
    assert "PATCH=" in repo.make("import", 1)
    repo.make("import", PATCH=f"two/{EIGHTY}")
    assert "+other text\n" in repo.read(f"patches/two/{EIGHTY}")
    write(repo.tree, {"include/new.h": "new\n"})
    assert "PATCH=" in repo.make("import", 1)
    repo.make("import", PATCH=f"one/{TEN}")
    assert repo.read("include/new.h") == "new\n"
    assert f"{TEN} include/new.h" in repo.read("patches/one/files")
    assert "0 written" in repo.make("tree")


def test_import_of_commits(repo):
    """A new patch arrives, with a fixup of another one; so do one that is dropped, and one that is
    moved."""
    repo.edit("dir/numbers", "30\n", "thirty\n")
    git("commit", "-qam", "numbers: Line 30", at=repo.tree)
    assert "TOPIC=one|two" in repo.make("import", 1)
    repo.edit("dir/numbers", "eighty\n", "EIGHTY\n")
    git("commit", "-qam", "fixup! numbers: line 80 is eighty", at=repo.tree)
    repo.make("import", TOPIC="one")
    assert repo.read("patches/one/series").endswith(f"{FIFTY}\nnumbers-Line-30.patch\n")
    assert "+EIGHTY\n" in repo.read(f"patches/two/{EIGHTY}")
    git("checkout", "-q", "one", at=repo.tree)
    git("rebase", "-q", "--onto", "HEAD~3", "HEAD~2", at=repo.tree)
    repo.make("import")
    assert repo.read("patches/one/series") == f"{FIFTY}\nnumbers-Line-30.patch\n"
    assert not (repo.path / "include/one.h").exists() and repo.lines(10) == ["10"]


def test_edits_are_kept(repo):
    """`make tree' does not take what was edited or committed there and is not imported; `make
    import' does not take what was changed in the repository and is not laid."""
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
    assert (repo.tree / "include/one.h").read_text("utf-8") == "edited\n"
    git("commit", "-qam", "x", at=repo.tree)
    assert "make import" in repo.make("tree", 1)
    assert (repo.tree / "include/one.h").read_text("utf-8") == "edited\n"


def test_series(repo, tmp_path):
    """The mails of a topic, applied to the source alone, give its tree; SIGNOFF=1 adds the
    Signed-off-by of whoever exports. Patches without a cover letter stand alone."""
    for name, value in ("user.name", "A Person"), ("user.email", "person@localhost"):
        git("config", name, value, at=repo.path)
    given = {"OUT": str(tmp_path / "mails"), "TOPIC": "one", "SIGNOFF": "1"}
    repo.make("series", **given)
    mails = sorted((tmp_path / "mails/one/1-one").iterdir())
    assert [each.name[:4] for each in mails] == ["0000", "0001", "0002"]
    cover = mails[0].read_text("utf-8")
    assert "Subject: [PATCH 0/2] The subject of one" in cover
    for mail in mails[1:]:
        subject = re.search(r"^Subject: \[PATCH \d/2\] (.*)", mail.read_text("utf-8"), re.M)
        assert f"\n  {subject[1]}\n" in cover
    assert "Signed-off-by: A Person <person@localhost>" in mails[2].read_text("utf-8")
    repo.make("tree", TOPIC="one")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "source"], ["am", *mails[1:]]):
        git(*words, at=tmp_path / "linux")
    left = subprocess.run(["diff", "-r", "-x", ".git", tmp_path / "linux", repo.tree], check=False,
                          capture_output=True, text=True)
    assert left.returncode == 0, left.stdout
    first, second = repo.read("patches/one/series").split()
    write(repo.path, {"patches/one/parts": f"alone {first}\nrest nothing.patch\n"})
    assert "patches/one/parts: no such patch: nothing.patch" in repo.make("series", 1, **given)
    write(repo.path, {"patches/one/parts": f"alone {first}\none {second}\n"})
    repo.make("series", **given)
    mail, = (tmp_path / "mails/one/1-alone").iterdir()
    assert "Subject: [PATCH] " in mail.read_text("utf-8")
    assert len(list((tmp_path / "mails/one/2-one").iterdir())) == 2
