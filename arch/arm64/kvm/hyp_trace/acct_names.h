/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of reasons in the files of accounting
 */
#ifndef __ARM64_KVM_HYP_ACCT_NAMES_H__
#define __ARM64_KVM_HYP_ACCT_NAMES_H__

struct seq_file;

void hyp_acct_show_name(struct seq_file *m, unsigned int reason);

#endif /* __ARM64_KVM_HYP_ACCT_NAMES_H__ */
