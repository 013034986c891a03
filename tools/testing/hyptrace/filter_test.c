// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: each comparison, programs of random expressions, and a host that passes
 * anything, also while events are filtered.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <nvhe/filter.h>

#include "random.h"
#include "tap.h"

#define RECORD_SIZE	24

static u64 random_state;

/* CPU 0 is the test, two others are its threads, and the rest of NR_CPUS are not there. */
#define NR_READERS	3

static const struct hyp_filter *reading[NR_READERS];

const struct hyp_filter **hyp_filter_reading(unsigned int cpu)
{
	return cpu < NR_READERS ? &reading[cpu] : NULL;
}

static bool match(struct hyp_filter *filter, const void *record)
{
	return hyp_filter_match(filter, &reading[0], record);
}

/* One that ends where its memory does, for the address sanitizer to see */
static void *new_record(void)
{
	u8 *record = malloc(RECORD_SIZE);
	unsigned int i;

	for (i = 0; i < RECORD_SIZE; i++)
		record[i] = random_next(&random_state) & (random_below(&random_state, 3) ? 3 : 255);
	return record;
}

/* What a field is worth, by its bytes; on a little-endian machine, as all of these are */
static __int128 field_value(const u8 *record, unsigned int offset, unsigned int size,
			    bool is_signed)
{
	__int128 value = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		value += (__int128)record[offset + i] << (8 * i);
	if (is_signed && value >> (8 * size - 1))
		value -= (__int128)1 << (8 * size);
	return value;
}

/**
 * struct leaf - a comparison
 * @offset:	of the field
 * @size:	of it
 * @op:		what compares
 * @is_signed:	the field is
 * @not:	the outcome is inverted
 * @val:	the operand, as the host converts it to the field's type
 */
struct leaf {
	unsigned int	offset;
	unsigned int	size;
	unsigned int	op;
	bool		is_signed;
	bool		not;
	u64		val;
};

static struct leaf random_leaf(void)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8 };
	struct leaf leaf = { .size = sizes[random_below(&random_state, 4)] };
	void *record = new_record();

	leaf.offset = random_below(&random_state, RECORD_SIZE / leaf.size) * leaf.size;
	leaf.op = 1 + random_below(&random_state, TRACE_REMOTE_OPS);
	leaf.not = random_next(&random_state) & 1;
	leaf.is_signed = random_next(&random_state) & 1;
	leaf.val = field_value(record, leaf.offset, leaf.size, leaf.is_signed);
	free(record);
	return leaf;
}

static bool leaf_holds(const struct leaf *leaf, const u8 *record)
{
	__int128 field = field_value(record, leaf->offset, leaf->size, leaf->is_signed);
	__int128 val = leaf->is_signed ? (__int128)(s64)leaf->val : (__int128)leaf->val;

	bool holds = (leaf->op & TRACE_REMOTE_LT && field < val) ||
		     (leaf->op & TRACE_REMOTE_EQ && field == val) ||
		     (leaf->op & TRACE_REMOTE_GT && field > val) ||
		     (leaf->op & TRACE_REMOTE_AND && (u64)field & (u64)val);

	return holds != leaf->not;
}

static u64 leaf_pred(const struct leaf *leaf, bool when, unsigned int target)
{
	return trace_remote_pred_code(leaf->offset, leaf->size, leaf->is_signed, leaf->op,
				      when != leaf->not, target);
}

static void test_comparisons(void)
{
	unsigned int i, j;

	for (i = 0; i < 3000; i++) {
		struct leaf leaf = random_leaf();
		struct hyp_filter filter = { };

		/* Past it: a match. One further on: none. */
		CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&leaf, false, 2), leaf.val,
				      RECORD_SIZE));
		CHECK(!hyp_filter_set(&filter, 1));
		for (j = 0; j < 20; j++) {
			u8 *record = new_record();

			CHECK(match(&filter, record) == leaf_holds(&leaf, record));
			free(record);
		}
	}
}

/**
 * struct expr - comparisons joined from the right: a && (b || (c && d))
 * @leaves:	the comparisons
 * @and:	what joins one to those behind it
 * @nr:		how many
 */
struct expr {
	struct leaf	leaves[TRACE_REMOTE_MAX_PREDS];
	bool		and[TRACE_REMOTE_MAX_PREDS];
	unsigned int	nr;
};

static bool expr_holds(const struct expr *expr, const u8 *record)
{
	bool held = leaf_holds(&expr->leaves[expr->nr - 1], record);
	unsigned int i;

	for (i = expr->nr - 1; i--;) {
		if (expr->and[i])
			held = leaf_holds(&expr->leaves[i], record) && held;
		else
			held = leaf_holds(&expr->leaves[i], record) || held;
	}
	return held;
}

static int expr_hand_over(struct hyp_filter *filter, const struct expr *expr)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < expr->nr && !ret; i++) {
		bool last = i == expr->nr - 1;
		bool when = !last && !expr->and[i];

		/* That fails in an and, and holds in an or, is the end. */
		ret = hyp_filter_add(filter, i, leaf_pred(&expr->leaves[i], when,
							  when ? expr->nr : expr->nr + 1),
				     expr->leaves[i].val, RECORD_SIZE);
	}
	return ret ?: hyp_filter_set(filter, expr->nr);
}

static void random_expr(struct expr *expr)
{
	unsigned int i;

	expr->nr = 1 + random_below(&random_state, TRACE_REMOTE_MAX_PREDS);
	for (i = 0; i < expr->nr; i++) {
		expr->leaves[i] = random_leaf();
		expr->and[i] = random_next(&random_state) & 1;
	}
}

/* One after the other, each in place of the last */
static void test_programs(void)
{
	struct hyp_filter filter = { };
	struct expr expr;
	unsigned int i, j;

	for (i = 0; i < 3000; i++) {
		random_expr(&expr);
		CHECK(!expr_hand_over(&filter, &expr));
		for (j = 0; j < 10; j++) {
			u8 *record = new_record();

			CHECK(match(&filter, record) == expr_holds(&expr, record));
			free(record);
		}
		if (!(i % 16)) {
			u8 *record = new_record();

			CHECK(!hyp_filter_set(&filter, 0));
			CHECK(match(&filter, record));
			free(record);
		}
	}
}

/* A leaf jumps over others, to one that is not the end. */
static void test_jumps(void)
{
	struct leaf is_0 = { .offset = 0, .size = 1, .op = TRACE_REMOTE_EQ };
	struct hyp_filter filter = { };
	u8 record[RECORD_SIZE] = { };
	unsigned int i;

	/* record[0] == i goes to 32 - i; all others go on to the next; 33: no match */
	for (i = 0; i < TRACE_REMOTE_MAX_PREDS; i++) {
		unsigned int target = TRACE_REMOTE_MAX_PREDS + (i < 16 ? -i : 1);

		CHECK(!hyp_filter_add(&filter, i, leaf_pred(&is_0, true, target), i, RECORD_SIZE));
	}
	CHECK(!hyp_filter_set(&filter, TRACE_REMOTE_MAX_PREDS));
	for (i = 0; i < 64; i++) {
		record[0] = i;
		CHECK(match(&filter, record) == !(i >= 16 && i < TRACE_REMOTE_MAX_PREDS));
	}
}

static const struct leaf sound = { .offset = 8, .size = 8, .op = TRACE_REMOTE_EQ };

static void test_refused_preds(void)
{
	static const struct {
		unsigned int	offset, size, op, index, target;
	} wrong[] = {
		{ 8, 0, TRACE_REMOTE_EQ, 0, 1 },
		{ 8, 3, TRACE_REMOTE_EQ, 0, 1 },
		{ 0, 16, TRACE_REMOTE_EQ, 0, 1 },
		{ 8, 255, TRACE_REMOTE_EQ, 0, 1 },
		{ 1, 2, TRACE_REMOTE_EQ, 0, 1 },
		{ 4, 8, TRACE_REMOTE_EQ, 0, 1 },
		{ RECORD_SIZE, 1, TRACE_REMOTE_EQ, 0, 1 },
		{ RECORD_SIZE, 8, TRACE_REMOTE_EQ, 0, 1 },
		{ 65528, 8, TRACE_REMOTE_EQ, 0, 1 },
		{ 8, 8, 0, 0, 1 },
		{ 8, 8, TRACE_REMOTE_OPS + 1, 0, 1 },
		{ 8, 8, 0x80 | TRACE_REMOTE_EQ, 0, 1 },
		{ 8, 8, TRACE_REMOTE_EQ, 0, 0 },
		{ 8, 8, TRACE_REMOTE_EQ, 0, TRACE_REMOTE_MAX_PREDS + 2 },
		{ 8, 8, TRACE_REMOTE_EQ, 1, 2 },
		{ 8, 8, TRACE_REMOTE_EQ, TRACE_REMOTE_MAX_PREDS, TRACE_REMOTE_MAX_PREDS + 1 },
	};
	struct hyp_filter filter = { }, before;
	unsigned int i;

	before = filter;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		u64 pred = trace_remote_pred_code(wrong[i].offset, wrong[i].size, false,
						  wrong[i].op, true, wrong[i].target);

		if (!CHECK(hyp_filter_add(&filter, wrong[i].index, pred, 0, RECORD_SIZE) == -22))
			tap_at("case %u", i);
		CHECK(!memcmp(&filter, &before, sizeof(filter)));
	}
	for (i = TRACE_REMOTE_PRED_BITS; i < 64; i++)
		CHECK(hyp_filter_add(&filter, 0, leaf_pred(&sound, true, 1) | 1ULL << i, 0,
				     RECORD_SIZE) == -22);
	CHECK(hyp_filter_add(&filter, 1ULL << 32, leaf_pred(&sound, true, 1), 0,
			     RECORD_SIZE) == -22);

	/* Half a field of it is in the record. */
	CHECK(hyp_filter_add(&filter, 0, leaf_pred(&sound, true, 1), 0, sound.offset + 4) == -22);

	for (i = 0; i < TRACE_REMOTE_MAX_PREDS; i++)
		CHECK(!hyp_filter_add(&filter, i, leaf_pred(&sound, true, i + 1), 0, RECORD_SIZE));
	CHECK(hyp_filter_add(&filter, i, leaf_pred(&sound, true, i + 1), 0, RECORD_SIZE) == -22);
}

/* A program that is not whole, or leads out of itself; the one in use stays */
static void test_refused_programs(void)
{
	struct hyp_filter filter = { };
	u64 record[RECORD_SIZE / 8] = { 0, 5 };

	CHECK(hyp_filter_set(&filter, 1) == -22);
	CHECK(match(&filter, record));

	CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&sound, false, 2), 7, RECORD_SIZE));
	CHECK(hyp_filter_set(&filter, 2) == -22);
	CHECK(hyp_filter_set(&filter, 1ULL << 32 | 1) == -22);
	CHECK(!hyp_filter_set(&filter, 1));
	CHECK(!match(&filter, record));

	/* Taken once, it is not there for a second time. */
	CHECK(hyp_filter_set(&filter, 1) == -22);
	CHECK(!match(&filter, record));

	CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&sound, true, 3), 5, RECORD_SIZE));
	CHECK(hyp_filter_set(&filter, 1) == -22);
	CHECK(!match(&filter, record));
	CHECK(!hyp_filter_add(&filter, 1, leaf_pred(&sound, true, 2), 5, RECORD_SIZE));
	/* A part of it is no program. */
	CHECK(hyp_filter_set(&filter, 1) == -22);
	CHECK(!hyp_filter_set(&filter, 2));
	CHECK(!match(&filter, record));

	/* Nor is the one that was in use before. */
	CHECK(hyp_filter_set(&filter, 1) == -22);

	/* The first one begins anew. */
	CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&sound, false, 2), 7, RECORD_SIZE));
	CHECK(!hyp_filter_add(&filter, 1, leaf_pred(&sound, false, 3), 7, RECORD_SIZE));
	CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&sound, false, 2), 5, RECORD_SIZE));
	CHECK(!hyp_filter_set(&filter, 1));
	CHECK(match(&filter, record));
}

/* Words that may be anything: what is taken reads the record alone, and ends. */
static void random_word(struct hyp_filter *filter, unsigned int *index)
{
	u64 pred = random_next(&random_state);

	if (random_below(&random_state, 8))
		pred = trace_remote_pred_code(random_below(&random_state, 40),
					      1 << random_below(&random_state, 5), pred & 1,
					      random_below(&random_state, TRACE_REMOTE_OPS + 2),
					      pred & 2, random_below(&random_state, 40));
	if (!hyp_filter_add(filter, *index, pred, random_next(&random_state), RECORD_SIZE))
		++*index;
	if (!random_below(&random_state, 6)) {
		hyp_filter_set(filter, random_below(&random_state, 4) ? *index :
			       random_next(&random_state));
		*index = 0;
	}
}

static void test_hostile(void)
{
	struct hyp_filter filter = { };
	unsigned int i, index = 0;

	for (i = 0; i < 30000 * TEST_LOAD; i++) {
		u8 *record = new_record();

		random_word(&filter, &index);
		match(&filter, record);
		free(record);
	}
}

/* What a CPU finds at a target if it does not check first whether the program has ended */
static void check_speculated(const void *prog)
{
	unsigned int i;

	for (i = 0; i <= TRACE_REMOTE_MAX_PREDS + 1; i++) {
		struct trace_remote_pred pred;
		unsigned int size;

		tap_at("predicate %u", i);
		memcpy(&pred, prog + i * sizeof(pred), sizeof(pred));
		size = trace_remote_pred_size(pred.code) ?: sizeof(u64);
		CHECK(trace_remote_pred_offset(pred.code) + size <= RECORD_SIZE);
		CHECK(trace_remote_pred_target(pred.code) <= TRACE_REMOTE_MAX_PREDS + 1);
		if (i >= TRACE_REMOTE_MAX_PREDS)
			CHECK(!pred.code && !pred.val);
	}
}

/* It gets no further, and loads the record alone. */
static void test_speculation(void)
{
	struct {
		struct hyp_filter	filter;
		u8			behind[2 * sizeof(struct trace_remote_pred)];
	} room = { };
	unsigned int i, index = 0;

	memset(room.behind, 0xa5, sizeof(room.behind));
	for (i = 0; i < 3000; i++) {
		random_word(&room.filter, &index);
		check_speculated((u8 *)&room + offsetof(struct hyp_filter, progs));
		check_speculated((u8 *)&room + offsetof(struct hyp_filter, progs) +
				 sizeof(struct hyp_filter_prog));
	}
}

/* hyp_filter_add() of a program that is not to be changed: it is refused, and the same. */
static void check_refused(struct hyp_filter *filter)
{
	struct hyp_filter_prog before[2];

	memcpy(before, filter->progs, sizeof(before));
	CHECK(hyp_filter_add(filter, 0, leaf_pred(&sound, true, 1), 1, RECORD_SIZE) == -11);
	CHECK(!memcmp(before, filter->progs, sizeof(before)));
}

static void use_program(struct hyp_filter *filter, u64 val)
{
	CHECK(!hyp_filter_add(filter, 0, leaf_pred(&sound, false, 2), val, RECORD_SIZE));
	CHECK(!hyp_filter_set(filter, 1));
}

/* A CPU reads the program in use, or the one before that: nothing is written there. */
static void test_retired(void)
{
	struct hyp_filter filter = { }, other = { };

	use_program(&filter, 1);
	reading[1] = &filter;
	check_refused(&filter);
	check_refused(&filter);
	reading[1] = &other;
	use_program(&filter, 2);

	reading[2] = &filter;
	check_refused(&filter);
	CHECK(hyp_filter_set(&filter, 1) == -22);
	CHECK(!hyp_filter_set(&filter, 0));
	check_refused(&filter);
	reading[2] = NULL;
	use_program(&filter, 3);
	reading[1] = NULL;
}

/* A CPU that was seen outside once does not put it off by the next event. */
static void test_quiesced(void)
{
	struct hyp_filter filter = { };

	use_program(&filter, 1);
	reading[0] = &filter;
	check_refused(&filter);
	reading[0] = NULL;
	reading[1] = &filter;
	check_refused(&filter);
	reading[0] = &filter;
	reading[1] = NULL;
	CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&sound, true, 1), 1, RECORD_SIZE));
	reading[1] = &filter;
	CHECK(!hyp_filter_add(&filter, 1, leaf_pred(&sound, true, 2), 1, RECORD_SIZE));
	CHECK(!hyp_filter_add(&filter, 0, leaf_pred(&sound, true, 1), 1, RECORD_SIZE));
	CHECK(!hyp_filter_set(&filter, 1));
	check_refused(&filter);
	reading[0] = NULL;
	reading[1] = NULL;
}

static struct hyp_filter shared;
static int stop;

/* @data: the place where the thread publishes what it reads */
static void *match_thread(void *data)
{
	unsigned long passed = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		u8 *record = calloc(1, RECORD_SIZE);

		passed += hyp_filter_match(&shared, data, record);
		free(record);
	}
	return (void *)passed;
}

static void start_readers(pthread_t *threads)
{
	unsigned int i;

	stop = 0;
	for (i = 1; i < NR_READERS; i++)
		CHECK(!pthread_create(&threads[i], NULL, match_thread, &reading[i]));
}

/* How many records passed */
static unsigned long stop_readers(pthread_t *threads)
{
	unsigned long sum = 0;
	unsigned int i;
	void *passed;

	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (i = 1; i < NR_READERS; i++) {
		CHECK(!pthread_join(threads[i], &passed));
		sum += (unsigned long)passed;
	}
	return sum;
}

/* ... while others go through it. */
static void test_race(void)
{
	pthread_t threads[NR_READERS];
	unsigned int i, index = 0;

	start_readers(threads);
	for (i = 0; i < 30000 * TEST_LOAD; i++)
		random_word(&shared, &index);
	stop_readers(threads);
}

/* A program of @nr predicates: the field is one of @nr numbers, none of them 0. */
static int hand_over_nonzero(struct hyp_filter *filter, unsigned int nr, unsigned int val)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		bool last = i == nr - 1;

		ret = hyp_filter_add(filter, i, leaf_pred(&sound, !last, last ? nr + 1 : nr),
				     val + i, RECORD_SIZE);
	}
	return ret ?: hyp_filter_set(filter, nr);
}

/* No program wants a record of zeroes; nor does what is left of one, or mixed of two. */
static void test_unwanted(void)
{
	pthread_t threads[NR_READERS];
	unsigned int changes = 0, nr;
	int ret;

	memset(&shared, 0, sizeof(shared));
	CHECK(!hand_over_nonzero(&shared, 1, 1));
	start_readers(threads);
	while (changes < 5000 * TEST_LOAD) {
		nr = 1 + random_below(&random_state, TRACE_REMOTE_MAX_PREDS);
		ret = hand_over_nonzero(&shared, nr, 1 + changes);
		if (ret)
			sched_yield();
		else
			changes++;
		CHECK(!ret || ret == -11);
	}
	CHECK(!stop_readers(threads));
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "each comparison of each type", test_comparisons },
		{ "programs of random expressions", test_programs },
		{ "predicates that jump", test_jumps },
		{ "predicates that are refused", test_refused_preds },
		{ "programs that are refused", test_refused_programs },
		{ "a host that hands over anything", test_hostile },
		{ "... while events are filtered", test_race },
		{ "a CPU that speculates past a program's end", test_speculation },
		{ "a program that may be read is not written to", test_retired },
		{ "a CPU is waited for once", test_quiesced },
		{ "nothing passes that no program wants, while it is changed", test_unwanted },
	};

	random_state = random_seed(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
	return tap_run(tests, ARRAY_SIZE(tests));
}
