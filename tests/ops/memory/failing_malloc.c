/* An allocator that fails one of the large allocations of a process on demand: see test_no_memory.py.

   It is loaded before the C library (LD_PRELOAD), whose own functions it calls by their inner names. */

#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static volatile int counting;
static volatile long met, failing;
static volatile size_t least;

/* Counts allocations of so many bytes or more from now on, and fails the one with this number. */
void fail_allocation(long number, size_t bytes) {
    met = 0, failing = number, least = bytes;
    __sync_synchronize();
    counting = 1;
}

/* Fails none any more; how many there were. */
long allocations_met(void) {
    counting = 0;
    __sync_synchronize();
    return met;
}

static int fails(size_t bytes) {
    if (!counting || bytes < least || __sync_add_and_fetch(&met, 1) != failing) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return fails(bytes) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || fails(bytes)) return NULL;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t bytes) { return bytes && fails(bytes) ? NULL : __libc_realloc(old, bytes); }

void *memalign(size_t align, size_t bytes) { return fails(bytes) ? NULL : __libc_memalign(align, bytes); }

void *aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }

int posix_memalign(void **place, size_t align, size_t bytes) {
    void *found = memalign(align, bytes);
    if (!found) return ENOMEM;
    *place = found;
    return 0;
}
