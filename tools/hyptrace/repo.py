# SPDX-License-Identifier: GPL-2.0
"""The git repository of build/tree: a commit of the originals for each source, a branch for each
topic from there, and the branch `tree', their merge. Replaying happens in a linked work tree, which
has no more files than it needs."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess

from hyptrace import base, patches, process
from hyptrace.machine import BUILD, Failure, note

ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_EDITOR": "true", "LC_ALL": "C",
       "GIT_AUTHOR_NAME": "hyptrace", "GIT_AUTHOR_EMAIL": "hyptrace@localhost",
       "GIT_COMMITTER_NAME": "hyptrace", "GIT_COMMITTER_EMAIL": "hyptrace@localhost",
       "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z"}
# What each mail begins with
FROM = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
# A pack in place of 86,000 files, written fast
PACKED = "-c core.bigFileThreshold=1 -c core.compression=1 -c core.fsync=none".split()


def git(*words, at=None, check=True, strip=True, env=None, **options):
    """git in build/tree or another work tree, without the configuration or hooks of the user;
    what it says on standard output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = process.run(["git", *words], cwd=at or base.read().tree, env=kept | ENV | (env or {}),
                       check=check, stderr=subprocess.PIPE, **options)
    if not check:
        return done
    return done.stdout.rstrip("\n") if strip else done.stdout


def commit_of(ref):
    """The commit of a name; None if there is no such."""
    done = git("rev-parse", "-q", "--verify", f"{ref}^{{commit}}", check=False)
    return done.stdout.strip() or None


def laid(branch):
    """The ref that keeps what `make tree' made a branch of."""
    return f"refs/hyptrace/{branch}"


def _replay_tree(at):
    """The linked work tree, at a commit: without files, which git takes from its index."""
    tree = base.read().tree
    path = BUILD / f"{tree.name}-replay"
    link, of_git = path / ".git", tree / ".git/worktrees" / path.name
    # Each names the other by its whole path: no more so if the project was moved.
    if not link.exists() or link.read_text("utf-8") != f"gitdir: {of_git}\n":
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(of_git, ignore_errors=True)
        git("worktree", "add", "-q", "--detach", "--no-checkout", path, at)
        git("sparse-checkout", "set", "--no-cone", "/none/", at=path)
    for word in "am", "rebase", "cherry-pick":
        git(word, "--abort", at=path, check=False)
    git("checkout", "-q", "--force", "--detach", at, at=path)
    git("clean", "-qfdx", at=path)
    return path


@contextlib.contextmanager
def replay(at):
    """A work tree to make commits in, on top of a commit."""
    with process.lock("replay"):
        yield _replay_tree(at)


class Made:
    """Which commit a series of mails gave, by a hash of them and of all before."""

    def __init__(self, start, mails):
        self.path = base.read().tree / ".git/hyptrace.json"
        self.known = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        self.keys = [start]
        for _, text in mails:
            self.keys.append(hashlib.sha1(f"{self.keys[-1]} {text}".encode()).hexdigest())

    def keep(self, commits):
        """The commits of the last mails."""
        self.known.update(zip(self.keys[-len(commits):] if commits else [], commits))
        self.path.write_text(json.dumps(self.known), "utf-8")

    def longest(self):
        """How many mails are made already, and the commit of the last."""
        for count in range(len(self.keys) - 1, 0, -1):
            commit = self.known.get(self.keys[count])
            if commit and commit_of(commit):
                return count, commit
        return 0, self.keys[0]


def _why_not(topic, names, said):
    """The mail that git am stopped at, and git's errors."""
    failed = re.search(r"Patch failed at (\d+)", said)
    name = names[int(failed[1]) - 1] if failed else "series"
    errors = "\n".join(re.findall(r"^(?:error|fatal): .*", said, re.M))
    return f"patches/{topic}/{name} does not apply\n{errors}"


def apply(topic, start):
    """The commit that a topic's mails give on top of another one, by git am."""
    mails = patches.mails(topic)
    made = Made(start, mails)
    count, at = made.longest()
    if count == len(mails):
        return at
    note(f"{topic}: {len(mails) - count} of {len(mails)} patches")
    names, texts = zip(*mails[count:])
    mailbox = "\n".join(text if text.startswith(FROM) else FROM + text for text in texts)
    with replay(at) as work:
        done = git("am", "-q", "--empty=keep", "--committer-date-is-author-date", "--keep-cr",
                   at=work, check=False, input=mailbox)
        if done.returncode:
            raise Failure(_why_not(topic, names, done.stdout + done.stderr))
        commits = git("rev-list", "--reverse", f"{at}..HEAD", at=work).splitlines()
    made.keep(commits)
    return commits[-1]


def merge(commits):
    """The commit that merges several, {name: commit}: the same one each time. One is itself."""
    (names, whole), *others = commits.items()
    if not others:
        return whole
    for name, commit in others:
        done = git("merge-tree", "--write-tree", "--name-only", "--no-messages", whole, commit,
                   check=False)
        tree, *conflicts = done.stdout.split()
        if done.returncode:
            raise Failure(f"the topics {names} and {name} conflict in {' '.join(conflicts)}")
        names += f" {name}"
        whole = git("commit-tree", "-m", "Merge topics", "-p", whole, "-p", commit, tree)
    parents = [word for commit in commits.values() for word in ("-p", commit)]
    return git("commit-tree", "-m", f"Merge {', '.join(commits)}", *parents, f"{whole}^{{tree}}")


def add_source(path, name, unpack):
    """Commit the originals of a source as a branch. The files of the first become build/tree."""
    tree = base.read().tree
    new, first, env = BUILD / f"{tree.name}-source", not (tree / ".git").exists(), {}
    shutil.rmtree(new, ignore_errors=True)
    unpack(path, new)
    if first:
        for words in ["init -q -b tree", "config gc.auto 0", "config core.abbrev 7"]:
            git(*words.split(), at=new)
    else:
        env = {"GIT_DIR": str(tree / ".git"), "GIT_WORK_TREE": str(new),
               "GIT_INDEX_FILE": str(tree / ".git/index-source")}
    note(f"committing {path.name}")
    git(*PACKED, "add", "-Af", at=new, env=env)
    commit = git("commit-tree", "-m", f"Linux of {path.name}", git("write-tree", at=new, env=env),
                 at=new, env=env)
    git("update-ref", f"refs/heads/source/{name}", commit, at=new, env=env)
    if first:
        git("reset", "-q", commit, at=new)
        git("update-ref", laid("tree"), commit, at=new)
        shutil.rmtree(tree, ignore_errors=True)    # not of git
        new.rename(tree)
    else:
        shutil.rmtree(new)
    return commit
