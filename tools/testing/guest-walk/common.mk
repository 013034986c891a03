# SPDX-License-Identifier: GPL-2.0-only
# What the Makefiles here share; they name the TEST, its SOURCES, and what it INCLUDEs.

HERE	:= $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
ROOT	:= $(abspath $(HERE)/../../..)
KSRC	?= $(ROOT)
SEED	?= 1
LOAD	?= 20

ifndef O
O	:= $(shell mktemp -d)
endif
ifeq ($(origin CC),default)
CC	:= gcc
endif

CFLAGS	:= -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare -Wno-type-limits \
	   -Wno-missing-field-initializers -Wno-unused-parameter \
	   -fno-omit-frame-pointer \
	   -fsanitize=address,undefined -fno-sanitize-recover=all

.PHONY: check
check: $(O)/$(TEST)
	$(O)/$(TEST) $(SEED) $(LOAD)

# Always: it takes seconds, and no list of the kernel's headers stays complete.
.PHONY: $(O)/$(TEST)
$(O)/$(TEST):
	@mkdir -p $(O)
	$(CC) $(CFLAGS) $(INCLUDE) -I$(KSRC)/tools/include -o $@ $(SOURCES) $(HERE)check.c $(WALK)
