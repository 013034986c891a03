// SPDX-License-Identifier: GPL-2.0
#include "../src/utils.h"
#include "tap.h"

static const struct {
	const char	*text;
	long		seconds;
} durations[] = {
	{ "1", 1 }, { "10s", 10 }, { "5m", 300 }, { "2h", 7200 }, { "1d", 86400 },
	{ "", -1 }, { "s", -1 }, { "0", -1 }, { "-1", -1 }, { "1x", -1 }, { "1ss", -1 },
	{ "1 s", -1 }, { "99999999999999999999", -1 }, { "9223372036854775807d", -1 },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(durations) / sizeof(*durations); i++)
		equals(*durations[i].text ? durations[i].text : "(empty)",
		       parse_seconds_duration(durations[i].text), durations[i].seconds);
	return tap_end();
}
