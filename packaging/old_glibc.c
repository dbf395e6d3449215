// SPDX-License-Identifier: Apache-2.0
// What objects compiled for Debian 12 ask of glibc and older ones do not have, or have under another version. Linked
// into the wheel's libraries with -Wl,--wrap for each __wrap_ function (portable_link.py reads the names from here), so
// that they need nothing newer than glibc 2.17, which is what manylinux2014 allows and what every pip accepts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif

// The same functions without the version of 2.27 and 2.29, which changed only how they set errno.
#define OLD(type, name, arguments, values)            \
  extern type old_##name arguments;                   \
  __asm__(".symver old_" #name "," #name "@" OLDEST); \
  type __wrap_##name arguments;                       \
  type __wrap_##name arguments { return old_##name values; }
OLD(double, exp, (double x), (x))
OLD(double, exp2, (double x), (x))
OLD(double, log, (double x), (x))
OLD(double, log2, (double x), (x))
OLD(double, pow, (double x, double y), (x, y))
OLD(float, expf, (float x), (x))
OLD(float, exp2f, (float x), (x))
OLD(float, logf, (float x), (x))
OLD(float, log2f, (float x), (x))
OLD(float, powf, (float x, float y), (x, y))

// 2.30: waits until a time of a given clock. Where it is missing, until that time of the wall clock.
typedef int (*ClockWait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const struct timespec* until);
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const struct timespec* until) {
  const ClockWait wait = (ClockWait)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (wait != NULL) return wait(condition, mutex, clock, until);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += until->tv_sec - now.tv_sec;
  wall.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) wall.tv_nsec += 1000000000L, --wall.tv_sec;
  if (wall.tv_nsec >= 1000000000L) wall.tv_nsec -= 1000000000L, ++wall.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// 2.18: destructors of thread-local objects. Where it is missing they do not run.
typedef int (*AtThreadExit)(void (*)(void*), void*, void*);
int __wrap___cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);
int __wrap___cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library) {
  const AtThreadExit add = (AtThreadExit)dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl");
  return add == NULL ? 0 : add(destroy, object, library);
}

// 2.28: fcntl with 64-bit locks. Both are the same on 64-bit systems.
int __wrap_fcntl64(int file, int command, ...);
int __wrap_fcntl64(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return fcntl(file, command, argument);
}

// 2.27
int __wrap_memfd_create(const char* name, unsigned flags);
int __wrap_memfd_create(const char* name, unsigned flags) {
  return (int)syscall(SYS_memfd_create, name, flags);
}

// 2.25
ssize_t __wrap_getrandom(void* out, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void* out, size_t size, unsigned flags) {
  return syscall(SYS_getrandom, out, size, flags);
}
int __wrap_getentropy(void* out, size_t size);
int __wrap_getentropy(void* out, size_t size) {
  if (size > 256) {
    errno = EIO;
    return -1;
  }
  for (size_t done = 0; done < size;) {
    const ssize_t got = __wrap_getrandom((char*)out + done, size - done, 0);
    if (got < 0 && errno != EINTR) return -1;
    if (got > 0) done += (size_t)got;
  }
  return 0;
}
void __wrap___explicit_bzero_chk(void* out, size_t size, size_t room);
void __wrap___explicit_bzero_chk(void* out, size_t size, size_t room) {
  if (size > room) abort();
  memset(out, 0, size);
  __asm__ volatile("" : : "r"(out) : "memory");  // the compiler may not leave it out
}
void __wrap_explicit_bzero(void* out, size_t size);
void __wrap_explicit_bzero(void* out, size_t size) { __wrap___explicit_bzero_chk(out, size, size); }

// 2.36: libstdc++'s random_device.
unsigned __wrap_arc4random(void);
unsigned __wrap_arc4random(void) {
  unsigned value;
  if (__wrap_getentropy(&value, sizeof value) != 0) abort();
  return value;
}

// 2.32: whether atomic counters may be plain. 0 is always right.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
