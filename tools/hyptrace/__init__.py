# SPDX-License-Identifier: GPL-2.0
"""The driver of hyptrace: what `make help` lists."""
