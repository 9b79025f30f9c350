/* Makes reading the file named by FAILING_FILE fail with the error number that the file named by FAILING_ERROR holds,
   while that exists: what a network file system does that has lost its server or the file. Preloaded by tests. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int failure(int descriptor)
{
    char link[64], path[4096];
    const char *file = getenv("FAILING_FILE"), *error = getenv("FAILING_ERROR");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (file == NULL || error == NULL || length < 0)
        return 0;
    path[length] = 0;
    if (strncmp(path, file, strlen(file)) != 0) /* " (deleted)" may follow */
        return 0;
    int number = 0;
    FILE *stream = fopen(error, "r");
    if (stream == NULL)
        return 0;
    if (fscanf(stream, "%d", &number) != 1)
        number = 0;
    fclose(stream);
    return number;
}

ssize_t pread64(int descriptor, void *buffer, size_t count, off_t offset)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "pread64");
    int number = failure(descriptor);
    if (number == 0)
        return real(descriptor, buffer, count, offset);
    errno = number;
    return -1;
}

ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset)
{
    return pread64(descriptor, buffer, count, offset);
}
