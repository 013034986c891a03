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

# Headers that do not change from one export to the next
STABLE = "-q -N -p --no-signature --zero-commit --full-index --no-renames --stdout".split()
SHOWN = 8       # candidates that are named


def _names(topic):
    """A topic's commits in order, with the file names of their patches."""
    said = repo.git("log", "--reverse", "--format=%H %f.patch", f"{repo.laid('source')}..{topic}")
    return dict(line.split() for line in said.splitlines())


def _differ(*between):
    """The paths of the files that differ."""
    return repo.git("diff", "--name-only", "--no-renames", *between).splitlines()


def _as_files(topic):
    """A topic's commits as {patch: text} without new files, and {new file: patch that adds it}."""
    source, found = repo.laid("source"), {}
    new = dict.fromkeys(_differ("--diff-filter=A", source, topic))
    text = repo.git("format-patch", *STABLE, f"{source}..{topic}") + "\n"
    text = re.sub(r"^(index \w{7})\w*\.\.(\w{7})\w*", r"\1..\2", text, flags=re.M)
    mails = re.split(f"^(?={repo.FROM})", text, flags=re.M)[1:]
    for name, mail in zip(_names(topic).values(), mails, strict=True):
        if name in found:
            raise Failure(f"{topic} has two patches {name}")
        head, *parts = re.split(r"^(?=diff --git )", mail, flags=re.M)
        kept, adds = [head], not parts
        for part in parts:
            path = re.match(r"diff --git a/(\S+) b/", part)[1]
            if path not in new:
                kept.append(part)
            elif not new[path]:
                new[path], adds = name, True
        if kept[1:] or adds:
            found[name] = "".join(kept).rstrip("\n") + "\n"
        else:
            note(f"{topic}: {name} changes new files alone: it is part of what adds them")
    return found, new


def _write(path, text, executable=False):
    """Write a file of the repository, if it changed."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        note(f"changed {path.relative_to(ROOT)}")
    if os.access(path, os.X_OK) != executable:
        path.chmod(0o755 if executable else 0o644)


def _claims(topic, new):
    """The text of `files': the lines that are right stay as they are."""
    path, kept, left = PATCHES / topic / "files", [], dict(new)
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        words = line.split("#")[0].split()
        mine = [name for name in left if words and patches.covers(words[1], name)]
        if not words or (mine and all(left[name] == words[0] for name in mine)):
            kept.append(line)
            for name in mine:
                del left[name]
    return "".join(f"{line}\n" for line in kept + [f"{patch} {name}" for name, patch in
                                                   left.items()])


def _text(at, path):
    """A file of a commit or tree; None if it is not there."""
    done = repo.git("cat-file", "blob", f"{at}:{path}", check=False)
    return None if done.returncode else done.stdout


def _put(topic):
    """Write the patches and the new files of a topic's branch to the repository."""
    mails, new = _as_files(topic)
    had, before, at = patches.new_files(topic), patches.series(topic), PATCHES / topic
    for name, text in mails.items():
        _write(at / name, text)
    if list(mails) != before:
        _write(at / "series", "".join(f"{name}\n" for name in mails))
    gone = [at / name for name in before if name not in mails]
    _write(at / "files", _claims(topic, new))
    for name in _differ(repo.laid(topic), topic):
        if name in new:
            mode = repo.git("ls-tree", topic, name).split()[0]
            _write(ROOT / name, _text(topic, name), mode == "100755")
        elif name in had:
            gone.append(ROOT / name)
    for path in gone:
        path.unlink()
        note(f"removed {path.relative_to(ROOT)}")


def _edited(before, after, hunks):
    """The text with some of the hunks that lead from the lines before to those after."""
    lines = list(before)
    for first, last, start, end in sorted(hunks, reverse=True):
        lines[first:last] = after[start:end]
    return "".join(lines)


class Edits:
    """What was edited in build/tree and not committed: each hunk as part of a fixup of a patch.
    The fixups are on top of HEAD, and the last one has all."""

    def __init__(self, whole):
        self.whole = whole      # a tree of all that is there
        self.env = {"GIT_INDEX_FILE": str(base.read().tree / ".git/index-fixups")}
        self.patches = {commit: (topic, name) for topic in base.read().topics
                        for commit, name in _names(topic).items()}
        self.order = list(self.patches)
        self.wanted = {}        # {patch's commit: {path: text with its hunks and those before}}

    def _unclear(self, path, why, commits):
        """The patch that the person named; or stop, and name the candidates."""
        called = {"/".join(self.patches[each]): each for each in self.order}
        if option("PATCH") in called:
            return called[option("PATCH")]
        names = [f"  PATCH={'/'.join(self.patches[each])}" for each in commits or self.order]
        raise Failure("\n".join([f"{path}: {why}; make import with one of", *names[:SHOWN],
                                 *["  .."] * (len(names) > SHOWN)]))

    def _touching(self, path):
        """The commits that touch a file, or else those that touch its directory."""
        for each in path, str(pathlib.PurePath(path).parent):
            found = repo.git("rev-list", f"^{repo.laid('source')}", *base.read().topics, "--",
                             each).splitlines()
            if found:
                return found
        return []

    def _owner(self, path, near):
        """The commit that an edit of lines belongs to, of which the commits are given."""
        ours = {commit for commit in near if commit in self.patches}
        if len({self.patches[commit][0] for commit in ours}) == 1:
            return max(ours, key=self.order.index)
        touching = self._touching(path)
        if not ours and len(touching) == 1:
            return touching[0]
        return self._unclear(path, "an edit is of several topics" if ours else
                             "an edit is of no patch's lines", list(ours) or touching)

    def _owner_of_file(self, path, is_there):
        """The commit that a file that is new, or gone, or has another mode belongs to."""
        claims = [(topic, patch) for topic in base.read().topics
                  for patch, at in patches.claims(topic) if patches.covers(at, path)]
        touching = self._touching(path)
        owners = [each for each in self.order if self.patches[each] in claims] if is_there \
            else touching
        return owners[0] if len(owners) == 1 else self._unclear(
            path, "it is of no patch yet, or of several", owners or touching)

    def add(self, path):
        """Find the patches of a file's edits."""
        old, new = _text("HEAD", path), _text(self.whole, path)
        if None in (old, new) or old == new:
            owner = self._owner_of_file(path, new is not None)
            self.wanted.setdefault(owner, {})[path] = new
            return
        blame = [line.split()[0] for line in
                 repo.git("blame", "-l", "-s", "--root", "HEAD", "--", path).splitlines()]
        before, after = re.findall(r".*\n|.+\Z", old), re.findall(r".*\n|.+\Z", new)
        hunks = {}
        for kind, *where in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
            if kind != "equal":
                first, last = where[:2]
                near = blame[first:last] or blame[max(0, first - 1):first + 1]
                hunks.setdefault(self._owner(path, near), []).append(where)
        made = []
        for owner in sorted(hunks, key=self.order.index):
            made += hunks[owner]
            self.wanted.setdefault(owner, {})[path] = _edited(before, after, made)

    def _stage(self, path, text):
        """Put a file into the index, or remove it there."""
        if text is None:
            repo.git("update-index", "--force-remove", path, env=self.env)
            return
        mode = repo.git("ls-tree", self.whole, path).split()[0]
        blob = repo.git("hash-object", "-w", "--stdin", input=text)
        repo.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", env=self.env)

    def fixups(self):
        """The commits, in order, each with its topic."""
        repo.git("read-tree", "HEAD", env=self.env)
        at, made = "HEAD", {}
        for owner in sorted(self.wanted, key=self.order.index):
            for path, text in self.wanted[owner].items():
                self._stage(path, text)
            at = repo.git("commit-tree", "-m", f"fixup! {owner}", "-p", at,
                          repo.git("write-tree", env=self.env))
            made[at] = self.patches[owner][0]
        return made

    def topic_of(self, commit):
        """The topic of a commit that a person made on the branch `tree'."""
        name = repo.git("show", "-s", "--format=%f.patch", commit)
        fixed = re.sub(r"^((fixup|squash|amend)-)+", "", name)
        found = {topic for topic, each in self.patches.values() if each == fixed != name}
        if not found and option("TOPIC"):
            found = {option("TOPIC")}
        elif not found:
            names, owners = _differ(f"{commit}^", commit), patches.assigned()
            found = {owners[each][0] for each in names if each in owners}
            found |= {topic for topic in base.read().topics
                      if set(names) & set(patches.touched(topic))}
        if len(found) != 1:
            raise Failure(f"{name}: of which topic is it? make import TOPIC="
                          f"{'|'.join(sorted(found or base.read().topics))}")
        return found.pop()


def _rebased(topic, commits):
    """The topic's new tip, with these commits each in its place."""
    if not commits:
        return repo.commit_of(topic)
    with repo.replay(repo.commit_of(topic)) as work:
        repo.git("cherry-pick", "--allow-empty", "-Xno-renames", *commits, at=work)
        done = repo.git("rebase", "-q", "-i", "--autosquash", "--keep-empty", repo.laid("source"),
                        at=work, check=False, env={"GIT_SEQUENCE_EDITOR": "true"})
        if done.returncode:
            why = repo.git("status", "--short", at=work)
            raise Failure(f"{topic}: a later patch changes the same lines:\n{why}")
        return repo.git("rev-parse", "HEAD", at=work)


def _everything():
    """All that is in build/tree, as a tree; and the files that differ from HEAD's."""
    env = {"GIT_INDEX_FILE": str(base.read().tree / ".git/index-import")}
    # With its time: git finds by it which files may have changed within a second.
    shutil.copy2(base.read().tree / ".git/index", env["GIT_INDEX_FILE"])
    repo.git("add", "-A", env=env)
    whole = repo.git("write-tree", env=env)
    return whole, _differ("HEAD", whole)


def _new_tips(whole, names):
    """What the topics are now: {topic: commit}."""
    made = repo.git("rev-list", "--reverse", "--first-parent", f"{repo.laid('tree')}..tree")
    if (made or names) and repo.git("symbolic-ref", "HEAD", check=False).stdout.strip() != \
            "refs/heads/tree":
        raise Failure("build/tree is not on the branch `tree': commit there, and check it out")
    edits = Edits(whole)
    for name in names:
        edits.add(name)
    picks = {commit: edits.topic_of(commit) for commit in made.splitlines()} | edits.fixups()
    return {topic: _rebased(topic, [each for each, of in picks.items() if of == topic])
            for topic in base.read().topics}


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
        source = repo.commit_of(repo.laid("source"))
        for topic in changed:
            made = repo.Made(source, patches.mails(topic)).longest()[1]
            if made != repo.commit_of(repo.laid(topic)):
                raise Failure(f"patches/{topic} or its new files have changes that build/tree has "
                              "not: make tree, or put them aside")
        tip = repo.merge(tips)
        on_tree = names or repo.commit_of("tree") != repo.commit_of(repo.laid("tree"))
        if on_tree and repo.git("rev-parse", f"{tip}^{{tree}}") != whole:
            lost = repo.git("diff", "--stat", tip, whole)
            raise Failure(f"what the topics give is not what build/tree has:\n{lost}")
        for topic in changed:
            repo.git("update-ref", f"refs/heads/{topic}", tips[topic])
            _put(topic)
            repo.git("update-ref", repo.laid(topic), tips[topic])
            repo.Made(source, patches.mails(topic)).keep(tree.mails(topic))
        if on_tree:
            repo.git("reset", "-q", tip)
        else:
            repo.git("checkout", "-q", "-B", "tree", tip, "--")
        repo.git("update-ref", repo.laid("tree"), tip)
    return 0


def _parts(topic):
    """The series that a topic is sent as: {name: commits}. `parts' names the first patch of each;
    without it there is one, of the topic's name."""
    begins = {first: part for part, first in map(str.split, base.lines(PATCHES / topic / "parts"))}
    found, part = {}, topic
    for commit, name in _names(topic).items():
        part = begins.pop(name, part)
        found.setdefault(part, []).append(commit)
    if begins:
        raise Failure(f"patches/{topic}/parts: no such patch: {' '.join(begins)}")
    return found


def _export(commits, cover, out, *words, env=None):
    """A series in a directory; one without a cover letter is of patches that stand alone."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("[0-9][0-9][0-9][0-9]-*.patch"):
        old.unlink()
    branch, how = f"series/{out.name}", ["-N"]
    repo.git("update-ref", f"refs/heads/{branch}", commits[-1])
    if cover.exists():
        how = ["--cover-letter", "--cover-from-description=subject"]
        repo.git("config", f"branch.{branch}.description", cover.read_text("utf-8"))
    repo.git("format-patch", "-q", "--no-signature", "--zero-commit", *how, *words,
             "-o", out.resolve(), f"{commits[0]}^..{branch}", env=env)
    note(f"{len(commits)} patches{' and a cover letter' * cover.exists()} in {out}")


def export(topic, out, signoff=False):
    """The mails of a topic for `git am', a directory for each series; build/tree has them."""
    env = {f"GIT_COMMITTER_{name.upper()}": process.run(
        ["git", "config", f"user.{name}"], cwd=ROOT).stdout.strip()
        for name in (("name", "email") if signoff else ())}
    for number, (part, commits) in enumerate(_parts(topic).items(), 1):
        _export(commits, PATCHES / topic / f"{part}.cover", out / f"{number}-{part}",
                *["-s"] * signoff, env=env)


def main():
    """`make series`"""
    wanted = patches.topics()
    os.environ.pop("TOPIC", None)
    tree.make()
    for topic in wanted:
        export(topic, pathlib.Path(option("OUT") or BUILD / "series") / topic,
               bool(option("SIGNOFF")))
    return 0
