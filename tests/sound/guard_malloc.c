/* SPDX-License-Identifier: Apache-2.0
 * LD_PRELOAD: blocks of 256 bytes and more end at a page that cannot be touched, so that a kernel which reads or writes
 * past its memory ends at once, also in machine code that no sanitizer sees. Blocks are rounded up to their alignment, 16
 * bytes at least, since that is what is promised of where they begin. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void* __libc_malloc(size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

enum { kPage = 4096, kLeast = 256, kMagic = 0x67726431 };

/* In the page before the block. */
typedef struct {
  uint32_t magic;
  size_t mapped;
  size_t size;
} Header;

static Header* header_of(void* block) {
  return (Header*)(((uintptr_t)block & ~(uintptr_t)(kPage - 1)) - kPage);
}

static int is_guarded(void* block) {
  /* Guarded blocks come from mmap above the heap; the heap's own are below it or have no such page before them. */
  unsigned char resident;
  Header* const header = header_of(block);
  const int error = errno;
  const int mapped = mincore(header, kPage, &resident) == 0;
  errno = error;
  return mapped && header->magic == kMagic && header->size != 0;
}

static void* guarded(size_t alignment, size_t size) {
  if (alignment < 16) alignment = 16;
  const size_t room = (size + alignment - 1) / alignment * alignment;
  const size_t pages = (room + kPage - 1) / kPage * kPage;
  const size_t mapped = pages + 2 * kPage;
  char* const all = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return errno = ENOMEM, NULL;
  mprotect(all + kPage + pages, kPage, PROT_NONE);
  char* const block = all + kPage + pages - room;
  Header* const header = header_of(block);
  header->magic = kMagic;
  header->mapped = mapped;
  header->size = size;
  return block;
}

void* malloc(size_t size) { return size < kLeast ? __libc_malloc(size) : guarded(16, size); }
void* calloc(size_t count, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(count, size, &all)) return errno = ENOMEM, NULL;
  void* const block = malloc(all);
  if (block != NULL) memset(block, 0, all);
  return block;
}
void* memalign(size_t alignment, size_t size) {
  return size < kLeast || alignment > kPage ? __libc_memalign(alignment, size)
                                            : guarded(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == NULL ? ENOMEM : 0;
}
void free(void* block) {
  if (block == NULL) return;
  if (!is_guarded(block)) {
    __libc_free(block);
    return;
  }
  Header* const header = header_of(block);
  munmap(header, header->mapped);
}
size_t malloc_usable_size(void* block) {
  return block != NULL && is_guarded(block) ? header_of(block)->size : 0;
}
void* realloc(void* block, size_t size) {
  if (block == NULL) return malloc(size);
  void* const out = malloc(size == 0 ? 1 : size);
  if (out == NULL) return NULL;
  extern void* __libc_realloc(void*, size_t);
  if (is_guarded(block)) {
    const size_t old = header_of(block)->size;
    memcpy(out, block, old < size ? old : size);
    free(block);
    return out;
  }
  free(out);
  return __libc_realloc(block, size);
}
