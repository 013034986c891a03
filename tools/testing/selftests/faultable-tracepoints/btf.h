/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the type of a raw tracepoint in the kernel's BTF. */
#ifndef BTF_H
#define BTF_H

#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What follows the description of a type */
static inline size_t btf_rest(const struct btf_type *type)
{
	unsigned int nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return nr * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return nr * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return nr * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return nr * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

/* Return the id of the typedef of that name, 0 if there is none. */
static inline unsigned int btf_find(const char *btf, const char *name)
{
	const struct btf_header *header = (const void *)btf;
	const char *types = btf + header->hdr_len + header->type_off;
	const char *strings = btf + header->hdr_len + header->str_off;
	const struct btf_type *type;
	unsigned int id = 1;
	size_t at;

	for (at = 0; at < header->type_len; at += sizeof(*type) + btf_rest(type), id++) {
		type = (const void *)(types + at);
		if (BTF_INFO_KIND(type->info) == BTF_KIND_TYPEDEF &&
		    !strcmp(strings + type->name_off, name))
			return id;
	}
	return 0;
}

static inline unsigned int raw_tracepoint_type(const char *tracepoint)
{
	FILE *file = fopen("/sys/kernel/btf/vmlinux", "r");
	unsigned int id = 0;
	struct stat st;
	char name[128];
	char *btf;

	if (!file)
		return 0;
	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	btf = fstat(fileno(file), &st) ? NULL : malloc(st.st_size);
	if (btf && fread(btf, 1, st.st_size, file) == (size_t)st.st_size)
		id = btf_find(btf, name);
	free(btf);
	fclose(file);
	return id;
}

#endif
