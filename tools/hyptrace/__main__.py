# SPDX-License-Identifier: GPL-2.0
"""`make TARGET`: python3 -m hyptrace TARGET"""

import importlib
import sys

from hyptrace import machine, process

# Targets whose module has another name
MODULES = {"run": "demo", "rootfs": "image", "import": "series", "series": "series"}


def main():
    """Call the module of a target."""
    target = sys.argv[1]
    process.end_on_signals()
    try:
        machine.prepare()
        module = importlib.import_module(f"hyptrace.{MODULES.get(target, target)}")
        return getattr(module, {"import": "bring_in"}.get(target, "main"))()
    except (machine.Failure, OSError) as failure:
        print(f"{target}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as signal:
        return 128 + signal.args[0]


sys.exit(main())
