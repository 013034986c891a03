/* SPDX-License-Identifier: GPL-2.0 */
/* What perf kvm stat reports, for other programs */
#ifndef __PERF_KVM_LINES_H
#define __PERF_KVM_LINES_H

#include <stdbool.h>

struct hists;
struct kvm_event;
struct kvm_slow_event;
struct perf_kvm_stat;

bool kvm_lines__are_valid(struct perf_kvm_stat *kvm);
void kvm_lines__slow_event(struct perf_kvm_stat *kvm, const struct kvm_slow_event *slow);
void kvm_lines__events(struct perf_kvm_stat *kvm, struct hists *hists);
void kvm_lines__open_event(struct perf_kvm_stat *kvm, struct kvm_event *event);
void kvm_lines__sums(struct perf_kvm_stat *kvm);
void kvm_lines__doubts(struct perf_kvm_stat *kvm);

#endif /* __PERF_KVM_LINES_H */
