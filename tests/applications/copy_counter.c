/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into a program, counts the bytes that memcpy and memmove move in calls of at least COPY_LEAST bytes (256), and writes
 * "bytes calls" to the file that COPY_COUNTS names when the program ends. Compiled without built-in functions: the loops
 * below must not become calls of themselves. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ullong bytes, calls;
static size_t least = 256;

static void* move(void* to, const void* from, size_t size) {
  if (size >= least) {
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  }
  unsigned char* a = to;
  const unsigned char* b = from;
#if defined(__x86_64__)
  if (a <= b || a >= b + size) {
    __asm__ volatile("rep movsb" : "+D"(a), "+S"(b), "+c"(size) : : "memory");
    return to;
  }
#else
  if (a <= b || a >= b + size) {
    for (size_t i = 0; i < size; ++i) ((volatile unsigned char*)a)[i] = b[i];
    return to;
  }
#endif
  while (size-- > 0) ((volatile unsigned char*)a)[size] = b[size];
  return to;
}

void* memcpy(void* to, const void* from, size_t size) { return move(to, from, size); }
void* memmove(void* to, const void* from, size_t size) { return move(to, from, size); }
void* __memcpy_chk(void* to, const void* from, size_t size, size_t room) {
  if (size > room) abort();
  return move(to, from, size);
}
void* __memmove_chk(void* to, const void* from, size_t size, size_t room) {
  if (size > room) abort();
  return move(to, from, size);
}

__attribute__((destructor)) static void report(void) {
  const char* const path = getenv("COPY_COUNTS");
  FILE* const file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%llu %llu\n", (unsigned long long)bytes, (unsigned long long)calls);
  fclose(file);
}

__attribute__((constructor)) static void start(void) {
  const char* const text = getenv("COPY_LEAST");
  if (text != NULL) least = (size_t)strtoull(text, NULL, 10);
}
