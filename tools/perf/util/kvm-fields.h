/* SPDX-License-Identifier: GPL-2.0 */
/* Lines for other programs: JSON objects, or values with a separator */
#ifndef __PERF_KVM_FIELDS_H
#define __PERF_KVM_FIELDS_H

#include <stdio.h>
#include <linux/types.h>
#include "strbuf.h"

/**
 * struct kvm_fields - prints such lines
 * @fp:		to where
 * @separator:	what is between two values; NULL for JSON
 * @line:	the line so far
 * @names:	the names of its values, if there is a separator
 * @header:	the names that were last printed, in a line of their own
 * @err:	0, or -ENOMEM since some field
 */
struct kvm_fields {
	FILE *fp;
	const char *separator;
	struct strbuf line;
	struct strbuf names;
	struct strbuf header;
	int err;
};

void kvm_fields__init(struct kvm_fields *fields, const char *separator, FILE *fp);
void kvm_fields__exit(struct kvm_fields *fields);
void kvm_fields__string(struct kvm_fields *fields, const char *name, const char *value);
void kvm_fields__u64(struct kvm_fields *fields, const char *name, u64 value);
void kvm_fields__double(struct kvm_fields *fields, const char *name, double value);
int kvm_fields__end(struct kvm_fields *fields);

#endif /* __PERF_KVM_FIELDS_H */
