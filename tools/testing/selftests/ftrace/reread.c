// SPDX-License-Identifier: GPL-2.0
/*
 * Read the beginning of a file twice, with one descriptor. It must be the same.
 * Then go back to the beginning, and write all of the file to standard output.
 *
 * reread FILE
 */
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE 100

int main(int argc, char **argv)
{
	char buf[4096], again[PIECE];
	ssize_t len;
	int fd;

	if (argc != 2)
		errx(2, "usage: reread FILE");

	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(2, "%s", argv[1]);

	len = pread(fd, buf, PIECE, 0);
	if (len < 0)
		err(2, "pread");
	if (pread(fd, again, PIECE, 0) != len || memcmp(buf, again, len))
		errx(1, "the second pread() returns something else");

	/* Leave the beginning */
	if (read(fd, buf, PIECE) < 0)
		err(2, "read");
	if (lseek(fd, 0, SEEK_SET))
		err(1, "lseek");

	while ((len = read(fd, buf, sizeof(buf))) > 0) {
		if (write(STDOUT_FILENO, buf, len) != len)
			err(2, "write");
	}
	if (len < 0)
		err(2, "read");

	return 0;
}
