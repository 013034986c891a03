/* SPDX-License-Identifier: GPL-2.0 */
/* In place of libbpf's helpers, for BPF programs in user space: bpf_test.c has them. */
#ifndef __BPF_HELPERS__
#define __BPF_HELPERS__

#define SEC(name)
#define __uint(name, val)	int (*name)[val]
#define __type(name, val)	typeof(val) * name
#define __array(name, val)	typeof(val) * name[]

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
long bpf_map_delete_elem(void *map, const void *key);
long bpf_probe_read_kernel(void *to, u32 size, const void *from);
u64 bpf_ktime_get_ns(void);
u64 bpf_get_current_pid_tgid(void);

#endif /* __BPF_HELPERS__ */
