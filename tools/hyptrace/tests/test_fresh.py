# SPDX-License-Identifier: GPL-2.0
"""What is committed, on Debian machines with nothing but make and git: `make run' as root and as a
user with sudo, and the tests on a machine that has not built anything."""

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
# Who runs a command; what is removed of what was built: all, or the link of the kernel with the
# programs that kbuild makes for itself, or the source; the command, and what it says
KERNEL = "kernel-default/scripts kernel-default/certs kernel-default/vmlinux"
STEPS = [
    ("root", ".", "make run", "guest exits, as KVM counted"),
    ("user", f"{KERNEL} rootfs.cpio suite-machine-rootfs", "make run", "events lost: 0"),
    ("root", "results", "make check SET=fast TESTS='scripts driver.packages trace writer'",
     "(?m)^[1-9][0-9]* passed, 0 failed"),
    ("root", "tree tree-replay dl series", "make series", "patches and a cover letter"),
]


@pytest.mark.seconds(1500)
@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_run(checks, release):
    """The first command of the README, from nothing, and others."""
    need("fresh")
    at = BUILD / "fresh" / release
    base, new = at / "base", at / "new"
    with process.lock(f"fresh-{release}"):
        at.mkdir(parents=True, exist_ok=True)
        if not base.exists() or time.time() - base.stat().st_mtime > 86400:
            process.run(as_root("rm", "-rf", "--one-file-system", base, new))
            image.machine(release, new, "--include=make,git", "--skip=cleanup/apt/lists")
            process.run(as_root("sh", "-c", f"touch '{new}' && mv '{new}' '{base}'"))
        for user, removed, command, says in STEPS:
            process.run(as_root("rm", "-rf", "--one-file-system",
                                *(at / "build" / path for path in removed.split())))
            done = process.run(as_root("sh", "-euc", MACHINE, "machine", at, ROOT, user, command),
                               check=False)
            checks(f"{command}, as {user}", not done.returncode and re.search(says, done.stdout),
                   done.stdout[-4000:])
