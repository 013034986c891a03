# SPDX-License-Identifier: GPL-2.0
"""What is committed, on Debian machines with nothing but make and git: `make run` as root and as a
user with sudo; and each step on a machine of its own, so that it must know its packages itself."""

import re
import time

import pytest

from hyptrace import image, process
from hyptrace.image import as_root
from hyptrace.machine import BUILD, ROOT, need

pytestmark = [pytest.mark.fresh, pytest.mark.alone]

# A machine of root's, without package lists; or of a user's who has sudo, whose lists are two days
# old. It has the repository, and runs a command with no more of this machine than its devices and
# its network. What is made under build/ is handed to the next machine. Its processes end with it.
MACHINE = r"""
dir=$1 repo=$2 user=$3 command=$4 root=$1/root clone=$1/root/src/hyptrace
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb
put_back() {
	[ ! -d "$clone/build" ] || [ -d "$dir/build" ] || mv "$clone/build" "$dir/build"
	rm -rf --one-file-system "$root"
}
inside() {
	env -i PATH="$PATH" TERM=dumb HOME=/root unshare --mount --pid --fork --kill-child sh -euc '
		mount --rbind /dev "$0/dev"
		mount -t proc proc "$0/proc"
		cp -L /etc/resolv.conf /etc/hosts "$0/etc"
		exec chroot "$0" "$@"' "$root" "$@"
}
put_back    # what a run that was killed left
trap put_back EXIT
cp -a --reflink=auto "$dir/base" "$root"
git clone -q "file://$repo" "$clone"
[ ! -d "$dir/build" ] || mv "$dir/build" "$clone/build"
if [ "$user" = root ]; then
	find "$root/var/lib/apt/lists" -type f -delete
	chown -R 0:0 "$clone"
	inside sh -c "cd /src/hyptrace && $command"
else
	chown -R 1000:1000 "$clone"
	inside sh -ec 'apt-get -q update && apt-get -q -y install --no-install-recommends sudo
		useradd -m -u 1000 -s /bin/sh user
		echo "user ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/user
		find /var/lib/apt/lists -maxdepth 1 -exec touch -h -d "2 days ago" {} +'
	inside setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/home/user USER=user \
		sh -c "cd /src/hyptrace && $command"
fi
"""
# make would install the step's packages.
PYTHON = """(apt-get -q update && apt-get -q -y install --no-install-recommends python3) >&2
	PYTHONPATH=tools python3 -B -m hyptrace """
# A step, what is removed of what it makes, what is there afterwards, and what it says. The kernel:
# all programs that kbuild makes for itself, the key that it makes, and the link. The tree comes
# last: of a source that is unpacked anew all of the kernel is made anew.
STEPS = [
    ("kernel", "kernel-default/scripts kernel-default/certs kernel-default/vmlinux "
     "kernel-default/arch/arm64/boot",
     "kernel-default/arch/arm64/boot/Image kernel-default/scripts/sign-file", ""),
    ("rootfs", "rootfs.cpio suite-machine-rootfs", "rootfs.cpio", ""),
    ("vm", "", "", "^aarch64"),
    ("series", "series", "series/hyp-trace/2-trace-remote/0000-cover-letter.patch", ""),
    ("check", "results", "results/junit.xml", "^[1-9][0-9]* passed, 0 failed"),
    ("tree", "tree tree-replay dl", "tree/Kbuild tree/.git", ""),
]
BEFORE = {"vm": "echo uname -m >/tmp/script; export SCRIPT=/tmp/script;",
          # Tests that need no kernel
          "check": "export SET=fast TESTS='scripts packages trace writer';"}


class Machines:
    """The machines of a release; bookworm's have the archive of security updates."""

    def __init__(self, release):
        self.dir, self.base, new = (BUILD / "fresh" / release / at for at in ("", "base", "new"))
        self.dir.mkdir(parents=True, exist_ok=True)
        if not self.base.exists() or time.time() - self.base.stat().st_mtime > 86400:
            process.run(as_root("rm", "-rf", "--one-file-system", self.base, new))
            image.machine(release, new, "--include=make,git", "--skip=cleanup/apt/lists",
                          security=release == "bookworm")
            process.run(as_root("sh", "-c", f"touch '{new}' && mv '{new}' '{self.base}'"))

    def remove(self, *paths):
        """Of what the machines before have made under build/."""
        process.run(as_root("rm", "-rf", "--one-file-system",
                            *(self.dir / "build" / path for path in paths)))

    def run(self, command, user="root"):
        """Run a command on a new machine."""
        return process.run(as_root("sh", "-euc", MACHINE, "machine", self.dir, ROOT, user, command),
                           check=False)


@pytest.fixture(name="machines", params=["bookworm", "trixie"])
def _machines(request):
    """The machines of each release."""
    need("fresh")
    with process.lock(f"fresh-{request.param}"):
        yield Machines(request.param)


@pytest.mark.seconds(900)
def test_run(machines, checks):
    """The first command of the README, from nothing; then by a user, for whom the kernel is there,
    but not what builds it and what links it."""
    for user, removed in [("root", [""]), ("user", "kernel-default/scripts kernel-default/vmlinux "
                                           "rootfs.cpio suite-machine-rootfs".split())]:
        machines.remove(*removed)
        done = machines.run("make run", user)
        checks(f"make run, as {user}", not done.returncode and "events lost: 0" in done.stdout
               and "guest exits, as KVM counted" in done.stdout, done.stdout[-4000:])


@pytest.mark.seconds(600)
def test_steps(machines, checks):
    """Each step alone"""
    for step, removed, made, says in STEPS:
        machines.remove(*removed.split())
        done = machines.run(BEFORE.get(step, "") + PYTHON + step)
        there = all((machines.dir / "build" / path).exists() for path in made.split())
        checks(f"{step} alone", not done.returncode and there
               and re.search(says, done.stdout, re.M), done.stdout[-4000:])
