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

from hyptrace import base, patches, process
from hyptrace.machine import BUILD, Failure, note

ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true",
       "GIT_AUTHOR_NAME": "hyptrace", "GIT_AUTHOR_EMAIL": "hyptrace@localhost",
       "GIT_COMMITTER_NAME": "hyptrace", "GIT_COMMITTER_EMAIL": "hyptrace@localhost",
       "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z"}
# A pack in place of 86,000 files, written fast
PACKED = "-c core.bigFileThreshold=1 -c core.compression=1 -c core.fsync=none".split()


def git(*words, at=None, check=True, strip=True, **options):
    """git in build/tree or another work tree, without the configuration or hooks of the user;
    what it says on standard output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = kept | ENV | options.pop("env", {})
    done = process.run(["git", *words], cwd=at or base.read().tree, env=env, check=False,
                       stderr=-1, **options)
    if done.returncode and check:
        said = (done.stderr or done.stdout).strip()
        raise Failure(f"git {' '.join(map(str, words[:3]))}: {said}")
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


def set_branch(branch, commit):
    """A branch is what the repository has."""
    git("update-ref", f"refs/heads/{branch}", commit)
    git("update-ref", laid(branch), commit)


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

    def __init__(self):
        self.path = base.read().tree / ".git/hyptrace.json"
        self.known = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}

    def keys(self, at, mails):
        """A hash for each mail."""
        found = [at]
        for _, text in mails:
            found.append(hashlib.sha1(f"{found[-1]} {text}".encode()).hexdigest())
        return found

    def keep(self, keys, commits):
        """The commits of the last of these keys."""
        self.known.update(zip(keys[-len(commits):] if commits else [], commits))
        self.path.write_text(json.dumps(self.known), "utf-8")

    def longest(self, keys):
        """How many mails are made already, and the commit of the last."""
        for count in range(len(keys) - 1, 0, -1):
            commit = self.known.get(keys[count])
            if commit and commit_of(commit):
                return count, commit
        return 0, keys[0]


def _why_not(topic, mails, at):
    """Each hunk of the mail that git am stopped at, which does not apply."""
    done = int(_file(at, "rebase-apply/next") or 1)
    name, text = mails[done - 1]
    said = git("apply", "--reject", "--cached", "-", at=at, check=False, input=text).stderr
    hunks = [line[len("error: "):] for line in said.splitlines() if line.startswith("error: ")]
    return "\n".join([f"patches/{topic}/{name}: {hunk}" for hunk in hunks]
                     + [f"patches/{topic}/{name} does not apply"])


def _file(at, name):
    """A file of git's own of a work tree."""
    path = at / git("rev-parse", "--git-path", name, at=at)
    return path.read_text("utf-8").strip() if path.exists() else ""


def _mailbox(mails):
    """The mails in one file; what begins a line of a mail's text does not begin another mail."""
    return "".join(re.sub(r"\AFrom .*\n", "", text).join(
        ["From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n", "\n"])
                   for _, text in mails)


def apply(topic, start):
    """The commit that a topic's mails give on top of another one, by git am."""
    made, mails = Made(), patches.mails(topic)
    keys = made.keys(start, mails)
    count, at = made.longest(keys)
    if count == len(mails):
        return at
    note(f"{topic}: {len(mails) - count} of {len(mails)} patches")
    with replay(at) as work:
        done = git("am", "-q", "--empty=keep", "--committer-date-is-author-date", "--keep-cr",
                   at=work, check=False, input=_mailbox(mails[count:]))
        if done.returncode:
            raise Failure(_why_not(topic, mails[count:], work))
        commits = git("rev-list", "--reverse", f"{at}..HEAD", at=work).splitlines()
    made.keep(keys, commits)
    return commits[-1]


def merge(commits):
    """The commit that merges several, {name: commit}: the same one each time. One is itself."""
    if len(commits) == 1:
        return next(iter(commits.values()))
    made, key = Made(), "merge " + " ".join(commits.values())
    if commit_of(made.known.get(key, "none")):
        return made.known[key]
    (first, whole), *others = commits.items()
    names = [first]
    for name, commit in others:
        done = git("merge-tree", "--write-tree", "--name-only", "--no-messages", whole, commit,
                   check=False)
        if done.returncode:
            raise Failure(f"the topics {' '.join(names)} and {name} conflict in "
                          f"{' '.join(done.stdout.split()[1:])}")
        names.append(name)
        whole = git("commit-tree", "-m", "Merge topics", "-p", whole, "-p", commit,
                    done.stdout.split()[0])
    parents = [word for commit in commits.values() for word in ("-p", commit)]
    whole = git("commit-tree", "-m", f"Merge {', '.join(commits)}", *parents, f"{whole}^{{tree}}")
    made.keep([key], [whole])
    return whole


def add_source(path, name, unpack):
    """Commit the originals of a source as a branch: those of the first are build/tree itself."""
    tree, branch = base.read().tree, f"source/{name}"
    first = not (tree / ".git").exists()
    fresh = tree if first else BUILD / f"{tree.name}-source"
    shutil.rmtree(fresh, ignore_errors=True)
    unpack(path, fresh)
    if first:
        git("init", "-q", "-b", "tree", at=fresh)
        git("config", "gc.auto", "0", at=fresh)
        git("config", "core.abbrev", "7", at=fresh)
    env = {} if first else {"GIT_DIR": str(tree / ".git"), "GIT_WORK_TREE": str(fresh),
                            "GIT_INDEX_FILE": str(tree / ".git/index-source")}
    note(f"committing {path.name}")
    git(*PACKED, "add", "-Af", at=fresh, env=env)
    commit = git("commit-tree", "-m", f"Linux of {path.name}", git("write-tree", at=fresh, env=env),
                 at=fresh, env=env)
    git("update-ref", f"refs/heads/{branch}", commit)
    if first:
        git("reset", "-q", commit)
        git("update-ref", laid("tree"), commit)
    else:
        shutil.rmtree(fresh)
    return commit
