# SPDX-License-Identifier: GPL-2.0
"""The way from build/tree's commits to files: `make series' exports each topic as mails, and `make
import' takes what was changed in build/tree back to patches/ and the new files.

An edit there goes to the patch that last touched its lines. Where that is not clear
PATCH=topic/name says it; or the person commits in build/tree, a fixup! of a patch or a new one, on
the branch `tree' or on a topic's.
"""

import difflib
import os
import pathlib
import re
import shutil

from hyptrace import base, patches, process, repo, tree
from hyptrace.base import PATCHES
from hyptrace.machine import BUILD, ROOT, Failure, need, note, option

FROM = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
# Headers that do not change from one export to the next
STABLE = "-q -N -p --no-signature --zero-commit --full-index --no-renames --stdout".split()
SHOWN = 8       # candidates that are named


def _name(commit):
    """The file name of a patch, by its subject."""
    return repo.git("show", "-s", "--format=%f", commit) + ".patch"


class Topic:
    """A topic's commits as the files of the repository."""

    def __init__(self, name):
        self.name, self.commits = name, tree.mails(name)
        self.source = repo.commit_of(repo.laid("source"))
        added = repo.git("diff", "--name-only", "--no-renames", "--diff-filter=A", self.source,
                         name).splitlines()
        self.new = {path: None for path in added}     # the patch that adds each
        self.mails = self._mails()

    def _mails(self):
        """The text of each patch by its name, without the new files."""
        text = repo.git("format-patch", *STABLE, f"{self.source}..{self.name}") + "\n"
        found = {}
        for mail in re.split(f"^{FROM}", text, flags=re.M)[1:]:
            head, *parts = re.split(r"^(?=diff --git )", FROM + mail, flags=re.M)
            name = _name(self.commits[len(found)])
            if name in found:
                raise Failure(f"{self.name} has two patches {name}")
            found[name] = self._strip(name, head, parts)
        for name in [name for name, text in found.items() if text is None]:
            note(f"{self.name}: {name} changes new files alone: it is part of what adds them")
            del found[name]
        return found

    def _strip(self, name, head, parts):
        """A patch without the new files that it adds; None if nothing is left of it."""
        kept, adds = [], False
        for part in parts:
            path = re.match(r"diff --git a/(\S+) b/", part)[1]
            if path not in self.new:
                kept.append(re.sub(r"^(index \w{7})\w*\.\.(\w{7})\w*", r"\1..\2", part, flags=re.M))
            elif self.new[path] is None:
                self.new[path], adds = name, True
        if not kept and parts and not adds:
            return None
        return (head + "".join(kept)).rstrip("\n") + "\n"

    def _write(self, path, text, executable=False):
        """Write a file of the repository, if it changed."""
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            note(f"changed {path.relative_to(ROOT)}")
        if path.exists() and os.access(path, os.X_OK) != executable:
            path.chmod(0o755 if executable else 0o644)

    def _files(self):
        """The lines of `files': those that are right stay as they are."""
        path, kept, left = PATCHES / self.name / "files", [], dict(self.new)
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            words = line.split("#")[0].split()
            mine = [name for name in left if words and patches.covers(words[1], name)]
            if not words or (mine and all(left[name] == words[0] for name in mine)):
                kept.append(line)
                for name in mine:
                    del left[name]
        kept += [f"{patch} {name}" for name, patch in left.items()]
        return "".join(f"{line}\n" for line in kept)

    def _put_mails(self):
        """The patches, and their order."""
        at, before = PATCHES / self.name, patches.series(self.name)
        for name, text in self.mails.items():
            self._write(at / name, text)
        if list(self.mails) != before:
            self._write(at / "series", "".join(f"{name}\n" for name in self.mails))
        for old in set(before) - set(self.mails):
            (at / old).unlink()
            note(f"removed patches/{self.name}/{old}")

    def put(self):
        """Write the patches and the new files to the repository."""
        before = {name for name, (of, _) in patches.assigned().items() if of == self.name}
        files = self._files()
        self._put_mails()
        self._write(PATCHES / self.name / "files", files)
        for name in before - set(self.new):
            (ROOT / name).unlink()
            note(f"removed {name}")
        for name in self.new:
            mode = repo.git("ls-tree", self.name, name).split()[0]
            text = repo.git("cat-file", "blob", f"{self.name}:{name}", strip=False)
            self._write(ROOT / name, text, mode == "100755")


class Edits:
    """What was edited in build/tree and not committed: hunks, each for a commit of a topic."""

    def __init__(self, whole):
        self.whole = whole      # a tree of all that is there
        self.topic_of = {commit: topic for topic in base.read().topics
                         for commit in tree.mails(topic)}
        self.order = list(self.topic_of)
        self.wanted = {}        # {commit: {path: text with this commit's hunks}}

    def _show(self, at, path):
        """A file of a commit or tree; None if it is not there."""
        done = repo.git("cat-file", "blob", f"{at}:{path}", check=False)
        return done.stdout if done.returncode == 0 else None

    def _unclear(self, path, why, commits):
        """The patch that the person named; or stop, and name the candidates."""
        if given := option("PATCH"):
            topic, _, name = given.rpartition("/")
            for commit in self.order:
                if topic in ("", self.topic_of[commit]) and name in (_name(commit),
                                                                     _name(commit)[:-6]):
                    return commit
            raise Failure(f"no patch {given}")
        names = [f"  PATCH={self.topic_of[each]}/{_name(each)}" for each in commits]
        more = f"\n  and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise Failure(f"{path}: {why}; make import with one of\n" + "\n".join(names[:SHOWN]) + more)

    def _touching(self, path):
        """The commits that touch a file, or else those that touch its directory."""
        for each in path, str(pathlib.PurePath(path).parent):
            found = [commit for topic in base.read().topics for commit in repo.git(
                "rev-list", f"{repo.laid('source')}..{topic}", "--", each).splitlines()]
            if found:
                return found
        return self.order

    def _blame(self, path):
        """The commit of each line."""
        said = repo.git("blame", "-l", "-s", "--root", "HEAD", "--", path)
        return [line.split()[0].lstrip("^") for line in said.splitlines()]

    def _owner(self, path, blame, first, last):
        """The commit that an edit of the lines from first to before last belongs to."""
        near = blame[first:last] or blame[max(0, first - 1):first + 1]
        ours = {commit for commit in near if commit in self.topic_of}
        if ours and len({self.topic_of[commit] for commit in ours}) == 1:
            return max(ours, key=self.order.index)
        touching = self._touching(path)
        if not ours and len(touching) == 1:
            return touching[0]
        return self._unclear(path, f"line {first + 1} is of no patch" if not ours else
                             f"line {first + 1} is of several topics", list(ours) or touching)

    def _whole(self, path, text):
        """A file that is new or gone."""
        if text is not None:
            claims = [(topic, patch) for topic in base.read().topics
                      for patch, at in patches.claims(topic) if patches.covers(at, path)]
            owners = [commit for commit in self.order
                      if (self.topic_of[commit], _name(commit)) in claims]
        else:
            owners = self._touching(path)
        owner = owners[0] if len(owners) == 1 else self._unclear(
            path, "it is of no patch yet" if text is not None else "several patches change it",
            owners or self._touching(path))
        self.wanted.setdefault(owner, {})[path] = (None, text)

    def add(self, path):
        """Find the commits of a file's edits."""
        old, new = self._show("HEAD", path), self._show(self.whole, path)
        if old is None or new is None:
            self._whole(path, new)
            return
        blame = self._blame(path)
        before, after = old.splitlines(True), new.splitlines(True)
        hunks = {}
        for kind, *where in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
            if kind != "equal":
                hunks.setdefault(self._owner(path, blame, *where[:2]), []).append(where)
        for owner, mine in hunks.items():
            self.wanted.setdefault(owner, {})[path] = (old, _edited(before, after, mine))

    def before(self, topic):
        """The commit before the first that is to change."""
        mine = [each for each in self.wanted if self.topic_of[each] == topic]
        return min(mine, key=self.order.index) + "^"

    def commit(self, topic, work):
        """Make the edits of a topic's commits there, as fixups."""
        for owner in [each for each in self.wanted if self.topic_of[each] == topic]:
            for path, (old, new) in self.wanted[owner].items():
                _put(work, path, old, new)
            repo.git("add", "-Af", "--sparse", "--", *self.wanted[owner], at=work)
            repo.git("commit", "-q", f"--fixup={owner}", at=work)


def _edited(before, after, hunks):
    """The text with some of the hunks that lead from the lines before to those after."""
    lines = list(before)
    for first, last, start, end in reversed(hunks):
        lines[first:last] = after[start:end]
    return "".join(lines)


def _put(work, path, old, new):
    """Make an edit, from one text to the other, of the topic's own form of a file."""
    at = work / path
    if new is None:
        repo.git("rm", "-q", "--sparse", "--cached", path, at=work)
        at.unlink(missing_ok=True)
        return
    at.parent.mkdir(parents=True, exist_ok=True)
    if old is None:
        at.write_text(new, "utf-8")
        return
    repo.git("checkout", "-q", "--ignore-skip-worktree-bits", "HEAD", "--", path, at=work)
    sides = {}
    for name, text in ("old", old), ("new", new):
        sides[name] = BUILD / f".import-{name}"
        sides[name].write_text(text, "utf-8")
    done = repo.git("merge-file", at, sides["old"], sides["new"], at=work, check=False)
    if done.returncode:
        raise Failure(f"{path}: the edit conflicts with the topic's own form of it")


def _topic_of(commit, topics_of):
    """The topic of a commit that a person made on the branch `tree'."""
    subject = repo.git("show", "-s", "--format=%s", commit)
    if fixed := re.match(r"(?:(?:fixup|squash|amend)! )+(.*)", subject):
        found = {topic for topic, subjects in topics_of.items() if fixed[1] in subjects}
    elif option("TOPIC"):
        found = {option("TOPIC")}
    else:
        names = repo.git("show", "--format=", "--name-only", "--no-renames", commit).splitlines()
        owners = patches.assigned()
        found = {owners[name][0] for name in names if name in owners}
        found |= {topic for topic in topics_of if set(names) & set(patches.touched(topic))}
    if len(found) != 1:
        raise Failure(f"{subject}: of which topic is it? make import TOPIC="
                      f"{'|'.join(sorted(found or topics_of))}")
    return found.pop()


def _rebased(topic, commits, edits):
    """The topic's new tip, with these commits and edits each in its place."""
    with repo.replay(repo.commit_of(topic)) as work:
        if commits:
            repo.git("cherry-pick", "--allow-empty", *commits, at=work)
        edits.commit(topic, work)
        onto = edits.before(topic) if not commits else repo.laid("source")
        done = repo.git("rebase", "-q", "-i", "--autosquash", "--keep-empty", onto, at=work,
                        check=False,
                        env={"GIT_SEQUENCE_EDITOR": "true"})
        if done.returncode:
            why = repo.git("status", "--short", at=work)
            repo.git("rebase", "--abort", at=work, check=False)
            raise Failure(f"{topic}: a later patch changes the same lines:\n{why}")
        return repo.git("rev-parse", "HEAD", at=work)


def _everything():
    """All that is in build/tree, as a tree; and the files that differ from HEAD's."""
    env = {"GIT_INDEX_FILE": str(base.read().tree / ".git/index-import")}
    # With its time: git finds by it which files may have changed within a second.
    shutil.copy2(base.read().tree / ".git/index", env["GIT_INDEX_FILE"])
    repo.git("add", "-A", env=env)
    whole = repo.git("write-tree", env=env)
    return whole, repo.git("diff", "--name-only", "--no-renames", "HEAD", whole).splitlines()


def _new_tips(whole, names):
    """What the topics are now: {topic: commit}."""
    tips = {topic: repo.commit_of(topic) for topic in base.read().topics}
    made = repo.git("rev-list", "--reverse", "--first-parent", f"{repo.laid('tree')}..tree")
    made = made.splitlines()
    if not made and not names:
        return tips
    if repo.git("symbolic-ref", "--short", "HEAD", check=False).stdout.strip() != "tree":
        raise Failure("build/tree is not on the branch `tree': commit there, and check it out")
    edits = Edits(whole)
    for name in names:
        edits.add(name)
    subjects = {topic: repo.git("log", "--format=%s", f"{repo.laid('source')}..{topic}")
                .splitlines() for topic in tips}
    owners = {commit: _topic_of(commit, subjects) for commit in made}
    for topic in tips:
        mine = [commit for commit in made if owners[commit] == topic]
        if mine or any(edits.topic_of[each] == topic for each in edits.wanted):
            tips[topic] = _rebased(topic, mine, edits)
    return tips


def bring_in():
    """`make import`"""
    need("tree")
    with process.lock(base.read().tree.name):
        whole, names = _everything()
        tips = _new_tips(whole, names)
        changed = [topic for topic, tip in tips.items() if tip != repo.commit_of(repo.laid(topic))]
        if not changed:
            note("build/tree has no changes")
            return 0
        tip = repo.merge(tips)
        on_tree = names or repo.commit_of("tree") != repo.commit_of(repo.laid("tree"))
        if on_tree and repo.git("rev-parse", f"{tip}^{{tree}}") != whole:
            lost = repo.git("diff", "--stat", tip, whole)
            raise Failure(f"what the topics give is not what build/tree has:\n{lost}")
        for topic in changed:
            repo.git("update-ref", f"refs/heads/{topic}", tips[topic])
            Topic(topic).put()
            repo.git("update-ref", repo.laid(topic), tips[topic])
            made = repo.Made()
            made.keep(made.keys(repo.commit_of(repo.laid("source")), patches.mails(topic)),
                      tree.mails(topic))
        if on_tree:
            repo.git("reset", "-q", tip)
        else:
            repo.git("checkout", "-q", "-B", "tree", tip, "--")
        repo.git("update-ref", repo.laid("tree"), tip)
    return 0


def export(topic, out, signoff=False):
    """The mails of a topic for `git am', with a cover letter, in a directory; build/tree has it."""
    cover = PATCHES / topic / "cover-letter"
    if not cover.exists() or not cover.read_text("utf-8").strip():
        raise Failure(f"no patches/{topic}/cover-letter: its subject, an empty line, its text")
    if not patches.series(topic):
        raise Failure(f"patches/{topic}/series is empty")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("[0-9][0-9][0-9][0-9]-*.patch"):
        old.unlink()
    repo.git("config", f"branch.{topic}.description", cover.read_text("utf-8"))
    env, words = {}, []
    if signoff:
        words = ["-s"]
        for name in "name", "email":
            value = process.run(["git", "config", f"user.{name}"], cwd=ROOT, check=False).stdout
            if not value.strip():
                raise Failure(f"SIGNOFF=1: git has no user.{name}")
            env[f"GIT_COMMITTER_{name.upper()}"] = value.strip()
    repo.git("format-patch", "-q", "--no-signature", "--zero-commit", "--cover-letter",
             "--cover-from-description=subject", *words, "-o", out.resolve(),
             f"{repo.laid('source')}..{topic}", env=env)
    note(f"{len(patches.series(topic))} patches and a cover letter in {out}")


def main():
    """`make series`"""
    wanted = patches.topics()
    os.environ.pop("TOPIC", None)
    tree.make()
    for topic in wanted:
        export(topic, pathlib.Path(option("OUT") or BUILD / "series") / topic,
               bool(option("SIGNOFF")))
    return 0
