// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap - map a CPU's trace_pipe_raw, read it, and try invalid mappings
 *
 * Prints events as trace_pipe does, and the result of a try as its name and a number or the name
 * of the error. On a file of the host, the same tries must have the same results.
 */
#define _GNU_SOURCE
#include <linux/trace_mmap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "raw_page.h"

static const char *path;
static int fd;
static struct trace_buffer_meta *meta;
static const char *subbufs;
static size_t subbufs_size;
static unsigned int id, pos;	/* the reader's page, how far it has been read */

static void *map(size_t size, off_t offset)
{
	return mmap(NULL, size, PROT_READ, MAP_SHARED, fd, offset);
}

static void map_all(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	meta = map(page, 0);
	if (meta == MAP_FAILED)
		err(1, "%s: mmap", path);
	subbufs_size = (size_t)meta->subbuf_size * meta->nr_subbufs;
	subbufs = map(subbufs_size, meta->meta_page_size);
	if (subbufs == MAP_FAILED)
		err(1, "%s: mmap of %zu", path, subbufs_size);
	id = meta->reader.id;
	pos = meta->reader.read;
}

static void unmap_all(void)
{
	munmap((void *)subbufs, subbufs_size);
	munmap(meta, meta->meta_page_size);
}

/* The reader's page has more than was printed, or there is another one. */
static int print_more(void)
{
	const struct raw_page *page;

	if (meta->reader.id != id || meta->reader.read < pos)
		pos = 0;
	else if (meta->reader.read == pos)
		return 0;
	id = meta->reader.id;
	if (meta->reader.read == pos)
		return 0;
	page = (const void *)(subbufs + (size_t)id * meta->subbuf_size);
	print_page(path, page, pos, meta->reader.read);
	pos = meta->reader.read;
	return 1;
}

static void take(void)
{
	do {
		if (ioctl(fd, TRACE_MMAP_IOCTL_GET_READER))
			err(1, "%s: TRACE_MMAP_IOCTL_GET_READER", path);
	} while (print_more());
}

static int op_read(void)
{
	map_all();
	take();
	return fflush(stdout) ? 1 : 0;
}

static int op_follow(void)
{
	map_all();
	follow(fd, take);
	return fflush(stdout) ? 1 : 0;
}

/* Keep the mapping until SIGTERM, after printing a line. */
static int op_hold(void)
{
	sigset_t mask, old;

	end_by_sigterm();
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &old);
	map_all();
	close(fd);
	puts("mapped");
	fflush(stdout);
	while (!has_ended())
		sigsuspend(&old);
	unmap_all();
	return 0;
}

/* The next page, or wait until there is one. */
static int op_block(void)
{
	map_all();
	fcntl(fd, F_SETFL, 0);
	puts(outcome(ioctl(fd, TRACE_MMAP_IOCTL_GET_READER)));
	return 0;
}

static int op_meta(void)
{
	map_all();
	if (ioctl(fd, TRACE_MMAP_IOCTL_GET_READER))
		err(1, "%s: TRACE_MMAP_IOCTL_GET_READER", path);
	printf("meta_page_size=%u meta_struct_len=%u subbuf_size=%u nr_subbufs=%u\n"
	       "flags=%llu entries=%llu overrun=%llu read=%llu lost=%llu\n",
	       meta->meta_page_size, meta->meta_struct_len, meta->subbuf_size,
	       meta->nr_subbufs, meta->flags, meta->entries, meta->overrun, meta->read,
	       meta->reader.lost_events);
	return 0;
}

static void say(const char *what, long ret)
{
	printf("%s: %s\n", what, outcome(ret));
}

static void try_map(const char *what, size_t size, int prot, int flags, off_t offset)
{
	void *at = mmap(NULL, size, prot, flags, fd, offset);

	say(what, at == MAP_FAILED ? -1 : 0);
	if (at != MAP_FAILED)
		munmap(at, size);
}

static void try_modes(size_t page)
{
	int rdonly = fd;

	try_map("write", page, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	try_map("private", page, PROT_READ, MAP_PRIVATE, 0);
	try_map("private, write", page, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0);
	try_map("execute", page, PROT_READ | PROT_EXEC, MAP_SHARED, 0);
	try_map("populate", page, PROT_READ, MAP_SHARED | MAP_POPULATE, 0);
	fd = open(path, O_RDWR | O_NONBLOCK);
	say("open to write", fd < 0 ? -1 : 0);
	try_map("write, opened to", page, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	try_map("read, opened to write", page, PROT_READ, MAP_SHARED, 0);
	close(fd);
	fd = rdonly;
}

static void try_sizes(size_t page)
{
	size_t nr = meta->nr_subbufs;

	try_map("all in one", (nr + 1) * page, PROT_READ, MAP_SHARED, 0);
	try_map("one page too many", (nr + 2) * page, PROT_READ, MAP_SHARED, 0);
	try_map("all but one", (nr - 1) * page, PROT_READ, MAP_SHARED, page);
	try_map("beyond the end", nr * page, PROT_READ, MAP_SHARED, 2 * page);
	try_map("from the end", page, PROT_READ, MAP_SHARED, (nr + 1) * page);
	try_map("from far beyond", page, PROT_READ, MAP_SHARED, page << 40);
	try_map("the last page", page, PROT_READ, MAP_SHARED, nr * page);
	try_map("nothing", 0, PROT_READ, MAP_SHARED, 0);
	try_map("an odd offset", page, PROT_READ, MAP_SHARED, 100);
}

static void try_changes(size_t page)
{
	char *at = (char *)subbufs;

	say("munmap of the first page", munmap(at, page));
	say("munmap of a page within", munmap(at + page, page));
	say("mprotect to write", mprotect(at, subbufs_size, PROT_READ | PROT_WRITE));
	say("mprotect of a page", mprotect(at, page, PROT_NONE));
	say("mprotect of all", mprotect(at, subbufs_size, PROT_NONE));
	say("mprotect back", mprotect(at, subbufs_size, PROT_READ));
	say("mremap to grow", mremap(at, subbufs_size, subbufs_size + page, MREMAP_MAYMOVE) ==
	    MAP_FAILED ? -1 : 0);
	say("mremap to shrink", mremap(at, subbufs_size, subbufs_size - page, 0) ==
	    MAP_FAILED ? -1 : 0);
	say("msync", msync(at, subbufs_size, MS_SYNC));
	say("madvise to drop", madvise(at, subbufs_size, MADV_DONTNEED));
}

/* A child's access to the mapped meta page */
static void try_fork(const char *what)
{
	int status;

	if (!fork()) {
		signal(SIGSEGV, SIG_DFL);
		_exit(__atomic_load_n(&meta->subbuf_size, __ATOMIC_RELAXED) !=
		      raw_page_size());
	}
	wait(&status);
	printf("%s: %s\n", what, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
	       WEXITSTATUS(status) ? "other memory" : "the same");
}

static void try_ioctl(const char *what)
{
	say(what, ioctl(fd, TRACE_MMAP_IOCTL_GET_READER));
}

/* As the name says, in the directory that has the file. */
static void try_write(const char *what, const char *file, const char *text, int flags)
{
	char name[256];
	int dir;

	snprintf(name, sizeof(name), "%.*s%s", (int)(strstr(path, "per_cpu") - path), path, file);
	dir = open(name, O_WRONLY | flags);
	say(what, dir < 0 ? -1 : write(dir, text, strlen(text)) < 0 ? -1 : 0);
	close(dir);
}

static void try_settings(void)
{
	try_write("a new size", "buffer_size_kb", "48", 0);
	try_write("tracing_on 1", "tracing_on", "1", 0);
	try_write("tracing_on 0", "tracing_on", "0", 0);
	try_write("clear", "trace", "0", O_TRUNC);
	try_ioctl("the reader after it");
	printf("left: %llu\n", meta->entries - meta->read);
}

static int op_attempts(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	try_ioctl("the reader, not mapped");
	try_modes(page);
	map_all();
	try_sizes(page);
	try_changes(page);
	try_fork("fork");
	say("madvise to fork", madvise(meta, page, MADV_DOFORK));
	try_fork("fork then");
	try_ioctl("the reader");
	try_settings();
	unmap_all();
	try_ioctl("the reader, not mapped any more");
	return 0;
}

static const struct op {
	const char *name;
	int (*run)(void);
	const char *help;
} ops[] = {
	{ "read", op_read, "print what there is" },
	{ "follow", op_follow, "and what comes, until SIGTERM" },
	{ "meta", op_meta, "print the meta page, of the next reader's page" },
	{ "hold", op_hold, "keep it mapped, without a descriptor, until SIGTERM" },
	{ "block", op_block, "the next page, or wait for it" },
	{ "attempts", op_attempts, "print what comes of each" },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 3 && i < ARRAY_SIZE(ops); i++) {
		if (strcmp(argv[1], ops[i].name))
			continue;
		path = argv[2];
		fd = raw_open(path, O_NONBLOCK);
		return ops[i].run();
	}
	fprintf(stderr, "Usage: mmap OPERATION FILE\n");
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		fprintf(stderr, "    %-9s %s\n", ops[i].name, ops[i].help);
	return 2;
}
