// Counts the allocations of a program that is started with it in LD_PRELOAD: the first 8 bytes of the file named by
// ALLOCATION_COUNT.
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// The allocator of glibc under the names that cannot be replaced.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static _Atomic uint64_t unshared, *count = &unshared;

__attribute__((constructor)) static void share(void) {
    const char *path = getenv("ALLOCATION_COUNT");
    int file = path ? open(path, O_RDWR) : -1;
    void *memory = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) _exit(70);
    count = memory;
}

void *malloc(size_t size) {
    ++*count;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    ++*count;
    return __libc_calloc(number, size);
}

// Growing a buffer counts as well: it may move.
void *realloc(void *memory, size_t size) {
    ++*count;
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    ++*count;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
