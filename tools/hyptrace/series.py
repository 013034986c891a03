# SPDX-License-Identifier: GPL-2.0
"""`make series' exports each topic as mails. `make import' takes what was edited or committed in
build/tree, on the branch `tree' or on a topic's, back to patches/ and the new files."""

import difflib
import os
import pathlib
import re

from hyptrace import patches, process, repo, tree
from hyptrace.machine import BASE, BUILD, MAIN, ROOT, Failure, need, note, option

# Headers that do not change from one export to the next
STABLE = "-1 -N -p --no-signature --zero-commit --full-index --no-renames --stdout".split()
# Debian's .gitignore has all files that are new. The build of perf generates some.
PATHS = ".", ":!*~", ":!*.orig", ":!*.rej", ":!*.o", ":!*.pyc", ":!*/include/generated/*"


def commits_of(topic):
    """A topic's commits in order, with the file names of their patches."""
    said = repo.git("log", "--reverse", "--format=%H %f.patch", f"{repo.laid('source')}..{topic}")
    return dict(line.split() for line in said.splitlines())


def _differ(*between):
    return repo.git("diff", "--name-only", "--no-renames", *between).splitlines()


def _mail(commit, new):
    """A commit as a mail without new files, and the files that it changes."""
    text = repo.git("format-patch", *STABLE, commit)
    text = re.sub(r"^(index \w{7})\w*\.\.(\w{7})\w*", r"\1..\2", text, flags=re.M)
    head, *parts = re.split(r"^(?=diff --git )", text, flags=re.M)
    parts = {re.match(r"diff --git a/(\S+) b/", part)[1]: part for part in parts}
    kept = head + "".join(part for path, part in parts.items() if path not in new)
    return kept.rstrip("\n") + "\n", list(parts)


def _mails(branch):
    """The mails of a topic's commits, {name: text}, and {new file: the one that adds it}. What
    changes new files alone is part of what adds them."""
    found, new = {}, dict.fromkeys(_differ("--diff-filter=A", repo.laid("source"), branch))
    for commit, name in commits_of(branch).items():
        text, paths = _mail(commit, new)
        new |= {path: new[path] or name for path in paths if path in new}
        if name in new.values() or set(paths) - set(new):
            found[name] = text
    return found, dict(sorted(new.items(), key=lambda each: list(found).index(each[1])))


def _put_patches(topic):
    """Write a topic's commits to patches/, without new files; {new file: patch that adds it}.
    Another base than MAIN writes what it changes, which is no number of a line."""
    (had, _), (mails, new) = _mails(repo.laid(topic)), _mails(topic)
    for name, text in mails.items():
        was, now = (re.sub(r"^(index|@@) .*", "", each, flags=re.M)
                    for each in (had.get(name, ""), text))
        if was != now or patches.own(topic, name).exists():
            patches.own(topic, name).parent.mkdir(exist_ok=True)
            patches.own(topic, name).write_text(text, "utf-8")
    gone = set(patches.series(topic)) - set(mails)
    patches.put_list(topic, "series", list(mails))
    if BASE == MAIN:
        gone -= {text for text, _ in patches.rows(topic, "series")}
    for name in gone:
        patches.own(topic, name).unlink(missing_ok=True)
    return new


def _put_difference(topic, names):
    """Write how new files that other bases have, too, differ from theirs."""
    env, path = tree.elsewhere(ROOT, "new"), patches.own(topic, "files.patch")
    repo.git("read-tree", "--empty", env=env)
    repo.git("add", "-f", "--", *names, at=ROOT, env=env)
    theirs = repo.git("write-tree", at=ROOT, env=env)
    path.parent.mkdir(exist_ok=True)
    path.write_text(names and repo.git("diff", "--no-renames", theirs, topic, "--", *names,
                                       strip=False) or "", "utf-8")
    if not path.stat().st_size:
        path.unlink()


def _put(topic):
    """Write a topic's branch to the repository."""
    had = patches.new_files(topic)
    new = _put_patches(topic)
    patches.put_list(topic, "files", [f"{patch} {path}" for path, patch in new.items()])
    others = {text.split()[1] for text, having in patches.rows(topic, "files") if having != [BASE]}
    shared = [path for path in new if BASE != MAIN and path in others]
    if mine := set(new).difference(shared):    # without a path git takes all
        repo.git("checkout", topic, "--pathspec-from-file=-", input="\n".join(mine), at=ROOT,
                 env=tree.elsewhere(ROOT, "new"))
    if BASE != MAIN:
        _put_difference(topic, shared)
    for path in set(had) - set(new) - others:
        (ROOT / path).unlink()


class Edits:
    """What was edited in build/tree and not committed: each hunk as part of a fixup of a patch."""

    def __init__(self):
        self.patches = {commit: (topic, name) for topic in patches.base().topics
                        for commit, name in commits_of(topic).items()}
        self.wanted = {}        # {patch's commit: {path: text with its hunks and those before}}

    def _touching(self, *paths):
        found = repo.git("rev-list", f"^{repo.laid('source')}", *patches.base().topics, "--",
                         *paths)
        return [each for each in self.patches if each in found.split()]

    def _owner(self, path, near=()):
        """The last patch of its lines or those beside them, or the file's only one, or PATCH."""
        ours = [each for each in self.patches if each in near]
        if ours and len({self.patches[each][0] for each in ours}) == 1:
            return ours[-1]
        able = ours or self._touching(path) or self._touching(str(pathlib.PurePath(path).parent))
        if len(able) == 1:
            return able[0]
        names = {"/".join(names): each for each, names in self.patches.items()}
        if option("PATCH") in names:
            return names[option("PATCH")]
        shown = [name for name, each in names.items() if each in able or not able]
        raise Failure(f"{path}: an edit is of no patch or of several; make import with one of" +
                      "".join(f"\n  PATCH={name}" for name in shown[:8]))

    def _hunks(self, path, before, after):
        """What leads from the lines before to those after: {patch: [(from, to, from, to)]}."""
        found = {}
        blame = [line.split()[0] for line in
                 repo.git("blame", "-l", "-s", "--root", "HEAD", "--", path).splitlines()]
        for kind, *where in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
            if kind != "equal":
                first, last = where[:2]
                near = blame[first:last] or blame[max(0, first - 1):first + 1]
                found.setdefault(self._owner(path, near), []).append(where)
        return found

    def add(self, path):
        """Find the patches of a file's edits."""
        new, made = patches.base().tree / path, []
        shown = repo.git("show", f"HEAD:{path}", check=False)
        if shown.returncode and not path.startswith(tuple(f"{top}/" for top in patches.TOPS)):
            raise Failure(f"{path}: a new file is in {' '.join(patches.TOPS)}")
        before = re.findall(r".*\n|.+\Z", shown.stdout)
        after = re.findall(r".*\n|.+\Z", new.read_text("utf-8") if new.exists() else "")
        if not before or not after or before == after:
            self.wanted.setdefault(self._owner(path), {})[path] = after if new.exists() else None
            return
        hunks = self._hunks(path, before, after)
        for owner in filter(hunks.get, self.patches):
            text, made = list(before), made + hunks[owner]
            for first, last, start, end in sorted(made, reverse=True):
                text[first:last] = after[start:end]
            self.wanted.setdefault(owner, {})[path] = text

    def commit(self):
        """Make the fixups, on the branch `tree'. The last one has all."""
        for owner in filter(self.wanted.get, self.patches):
            for path, text in self.wanted[owner].items():
                if text is not None:
                    (patches.base().tree / path).write_text("".join(text), "utf-8")
            repo.git("add", "-A", "-f", "--", *self.wanted[owner])
            repo.git("commit", "-q", "--fixup", owner)

    def topic_of(self, commit):
        """The topic of a commit: of the patch that it fixes, TOPIC's, or that of its files."""
        name = repo.git("show", "-s", "--format=%f.patch", commit)
        fixed = re.sub(r"^((fixup|squash|amend)-)+", "", name)
        found = {topic for topic, each in self.patches.values() if each == fixed != name}
        found = found or set(option("TOPIC").split()) or {
            self.patches[each][0] for each in self._touching(*_differ(f"{commit}^", commit))}
        if len(found) != 1:
            raise Failure(f"{name}: of which topic is it? make import TOPIC="
                          f"{'|'.join(sorted(found or patches.base().topics))}")
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


def _new_tips():
    """What the topics are now: {topic: commit}."""
    edits, before = Edits(), repo.laid("tree")
    repo.git("add", "-A", "-f", *PATHS)
    names = _differ("--cached", "HEAD")
    repo.git("reset", "-q")
    if names + repo.git("rev-list", f"{before}..tree").splitlines() and \
            repo.git("rev-parse", "--abbrev-ref", "HEAD") != "tree":
        raise Failure("build/tree is not on the branch `tree': commit there, and check it out")
    for name in names:
        edits.add(name)
    edits.commit()
    made = repo.git("rev-list", "--reverse", "--first-parent", f"{before}..tree").splitlines()
    topics = {commit: edits.topic_of(commit) for commit in made}
    tips = {topic: _rebased(topic, [each for each in made if topics[each] == topic])
            for topic in patches.base().topics}
    if made and (lost := repo.git("diff", "--stat", repo.merge(tips), "tree")):
        raise Failure(f"what the topics give is not what build/tree has:\n{lost}")
    return tips


def bring_in():
    """`make import`"""
    need("tree")
    with process.lock("tree"):
        source = repo.commit_of(repo.laid("source"))
        for topic in patches.base().topics:
            made = repo.commit_of(tree.made(source, tree.whole_mails(topic)))
            if made != repo.commit_of(repo.laid(topic)):
                raise Failure(f"patches/{topic} or its new files have changes that build/tree has "
                              "not: make tree, or put them aside")
        tips = _new_tips()
        changed = [topic for topic, tip in tips.items() if tip != repo.commit_of(repo.laid(topic))]
        for topic in changed:
            repo.git("update-ref", f"refs/heads/{topic}", tips[topic])
            _put(topic)
        tree.lay(source, {topic: tree.apply(topic, source) for topic in tips})
        note(f"changed: {', '.join(changed) or 'nothing'}")


def parts_of(topic):
    """The series that a topic is sent as: {name: commits}; `parts' has each one's first patch."""
    found, part = {}, topic
    begins = {first: name for name, first in map(str.split, patches.listed(topic, "parts"))}
    for commit, name in commits_of(topic).items():
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
    for number, (part, commits) in enumerate(parts_of(topic).items(), 1):
        _export(commits, patches.find(topic, f"{part}.cover"), out / f"{number}-{part}",
                *["-s"] * signoff, env=env)


def main():
    """`make series`"""
    wanted = patches.topics()
    os.environ.pop("TOPIC", None)
    tree.make()
    for topic in wanted:
        export(topic, pathlib.Path(option("OUT") or BUILD / "series") / topic,
               bool(option("SIGNOFF")))
