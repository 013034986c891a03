// SPDX-License-Identifier: GPL-2.0-only
#include <nvhe/trace_config.h>

u32 hyp_event_states[NR_HYP_EVENTS];
atomic64_t hyp_trace_config;
