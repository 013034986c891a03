#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# headers.py KIND FILE OUT - change a recording of perf to what somebody else may have written:
#
#   known     nothing: fail if it has a feature that perf of 6.12 does not know
#   later     add feature 32, which is another one in later perfs, with four words in it
#   wrapped   the first feature begins near the end of the 64 bits, and its size goes beyond
import struct
import sys

KNOWN = 32
FEATURES = 72   # where the bits are in the header, whose data section is at 40


def split(data):
    """The numbers of the features, and the bytes of each."""
    start, size = struct.unpack_from("<QQ", data, 40)
    bits = int.from_bytes(data[FEATURES:FEATURES + 32], "little")
    features = [bit for bit in range(256) if bits >> bit & 1]
    table = start + size
    found = {}
    for i, feature in enumerate(features):
        at, length = struct.unpack_from("<QQ", data, table + 16 * i)
        found[feature] = data[at:at + length]
    return table, found


def join(data, table, features):
    """The recording with these features."""
    bits = sum(1 << feature for feature in features)
    out = bytearray(data[:table])
    out[FEATURES:FEATURES + 32] = bits.to_bytes(32, "little")
    at = table + 16 * len(features)
    for feature in sorted(features):
        out += struct.pack("<QQ", at, len(features[feature]))
        at += len(features[feature])
    return out + b"".join(features[feature] for feature in sorted(features))


def main():
    kind, name, out = sys.argv[1:4]
    with open(name, "rb") as file:
        data = file.read()
    table, features = split(data)
    if kind == "known":
        later = [feature for feature in features if feature >= KNOWN]
        if later:
            sys.exit(f"features {later}")
    elif kind == "later":
        features[KNOWN] = struct.pack("<5I", 1, 77, 5, 0, 78)
        data = join(data, table, features)
    elif kind == "wrapped":
        data = bytearray(data)
        struct.pack_into("<QQ", data, table, 2 ** 64 - 256, 512)
    with open(out, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
