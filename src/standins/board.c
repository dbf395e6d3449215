/* SPDX-License-Identifier: Apache-2.0
 * libopenrknn_board.so, preloaded: makes this machine look like the board that RKNN_TARGET names to a program that was written for
 * one (docs/vendor-demos.md). The program finds
 *
 *   /proc/device-tree/compatible, /sys/firmware/devicetree/base/compatible   the chip's name
 *   /dev/dri/card0      dumb buffers: create, map, export as a descriptor, destroy
 *   /dev/dma_heap/...   allocation of dma-bufs, and their DMA_BUF_IOCTL_SYNC
 *   libdrm.so           dlopen and dlsym of drmIoctl, as the demos do it
 *
 * Buffers are memfds. Everything else goes to the system as before. RKNN_TARGET must be set; without it nothing changes. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* would make inline functions of the calls that are replaced here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "standins/drm_abi.h"

enum { kMostDevices = 64, kMostBuffers = 256, kMostMegabytes = 1024 };
enum kind { kNone, kTree, kCard, kHeap };

/* Open devices by descriptor, and dumb buffers by handle (index + 1). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int fd;
  enum kind kind;
} devices[kMostDevices];
static int device_count;
static struct {
  int fd; /* 0: free */
  uint64_t size;
} buffers[kMostBuffers];

static const char* chip(void) {
  const char* const name = getenv("RKNN_TARGET");
  return name != NULL && name[0] != '\0' && strlen(name) < 32 ? name : NULL;
}

static enum kind kind_of_path(const char* path) {
  if (path == NULL || chip() == NULL) return kNone;
  if (strcmp(path, "/proc/device-tree/compatible") == 0 ||
      strcmp(path, "/sys/firmware/devicetree/base/compatible") == 0)
    return kTree;
  if (strcmp(path, "/dev/dri/card0") == 0) return kCard;
  return strncmp(path, "/dev/dma_heap/", 14) == 0 ? kHeap : kNone;
}

/* A descriptor that stands for the device. */
static int open_device(enum kind kind, int flags) {
  const int fd =
      (int)syscall(SYS_memfd_create, "board", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (fd < 0) return -1;
  if (kind == kTree) {
    char text[128];
    const int size =
        snprintf(text, sizeof text, "rockchip,%s-evb%crockchip,%s%c", chip(), 0, chip(), 0);
    for (char* c = text; c < text + size; ++c) *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    if (write(fd, text, (size_t)size) != size || lseek(fd, 0, SEEK_SET) != 0) {
      close(fd);
      return -1;
    }
    return fd;
  }
  pthread_mutex_lock(&lock);
  int at = 0;
  while (at < device_count && devices[at].fd != fd)
    ++at; /* a number that was closed and came back */
  const int room = at < kMostDevices;
  if (room) {
    devices[at].fd = fd;
    devices[at].kind = kind;
    if (at == device_count) ++device_count;
  }
  pthread_mutex_unlock(&lock);
  if (room) return fd;
  close(fd);
  errno = EMFILE;
  return -1;
}

static enum kind kind_of_fd(int fd) {
  enum kind kind = kNone;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < device_count; ++i)
    if (devices[i].fd == fd) kind = devices[i].kind;
  pthread_mutex_unlock(&lock);
  return kind;
}

static int new_memory(uint64_t size, uint32_t flags) {
  if (size == 0 || size > (uint64_t)kMostMegabytes << 20) {
    errno = EINVAL;
    return -1;
  }
  const int fd =
      (int)syscall(SYS_memfd_create, "dma-buf", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

/* The index of a handle, or -1. */
static int buffer_of(uint32_t handle) {
  if (handle >= 1 && handle <= kMostBuffers && buffers[handle - 1].fd > 0) return (int)handle - 1;
  errno = ENOENT;
  return -1;
}

static int create_dumb(struct drm_create_dumb* request) {
  if (request->bpp == 0 || request->bpp > 128 || request->width == 0 || request->width > 32768 ||
      request->height == 0 || request->height > 32768) {
    errno = EINVAL;
    return -1;
  }
  request->pitch = (request->width * ((request->bpp + 7) / 8) + 63) / 64 * 64;
  request->size = ((uint64_t)request->pitch * request->height + 4095) / 4096 * 4096;
  for (int i = 0; i < kMostBuffers; ++i) {
    if (buffers[i].fd > 0) continue;
    const int fd = new_memory(request->size, O_CLOEXEC);
    if (fd < 0) return -1;
    buffers[i].fd = fd;
    buffers[i].size = request->size;
    request->handle = (uint32_t)i + 1;
    return 0;
  }
  errno = ENOMEM;
  return -1;
}

static int destroy_dumb(uint32_t handle) {
  const int i = buffer_of(handle);
  if (i < 0) return -1;
  close(buffers[i].fd);
  buffers[i].fd = 0;
  return 0;
}

static int card_ioctl(unsigned long request, void* argument) {
  if (argument == NULL) {
    errno = EFAULT;
    return -1;
  }
  switch (request) {
    case DRM_CREATE_DUMB:
      return create_dumb(argument);
    case DRM_MAP_DUMB: {
      struct drm_map_dumb* const map = argument;
      if (buffer_of(map->handle) < 0) return -1;
      map->offset = (uint64_t)map->handle << 32;
      return 0;
    }
    case DRM_EXPORT_HANDLE: {
      struct drm_export_handle* const prime = argument;
      const int i = buffer_of(prime->handle);
      if (i < 0) return -1;
      prime->fd =
          fcntl(buffers[i].fd, (prime->flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
      return prime->fd < 0 ? -1 : 0;
    }
    case DRM_CLOSE_HANDLE:
      return destroy_dumb(((struct drm_close_handle*)argument)->handle);
    case DRM_DESTROY_DUMB:
      return destroy_dumb(((struct drm_destroy_dumb*)argument)->handle);
    default:
      errno = ENOTTY; /* modes, planes and the chip's own calls are not offered */
      return -1;
  }
}

static int heap_ioctl(unsigned long request, void* argument) {
  struct dma_heap_allocation_data* const data = argument;
  if (request != DMA_HEAP_IOCTL_ALLOC || data == NULL) {
    errno = request != DMA_HEAP_IOCTL_ALLOC ? ENOTTY : EFAULT;
    return -1;
  }
  const int fd = new_memory(data->len, data->fd_flags);
  if (fd < 0) return -1;
  data->fd = (uint32_t)fd;
  return 0;
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  const enum kind kind = kind_of_fd(fd);
  if (kind == kHeap) return heap_ioctl(request, argument);
  if (kind == kCard) {
    pthread_mutex_lock(&lock);
    const int result = card_ioctl(request, argument);
    pthread_mutex_unlock(&lock);
    return result;
  }
  const int result = (int)syscall(SYS_ioctl, fd, request, argument);
  /* A memfd needs no flushing, but does not know the call. */
  return result < 0 && request == DMA_BUF_IOCTL_SYNC && chip() != NULL && errno == ENOTTY ? 0
                                                                                          : result;
}

int drmIoctl(int fd, unsigned long request, void* argument) { return ioctl(fd, request, argument); }

static void* map(void* address, size_t length, int prot, int flags, int fd, off_t offset) {
  if (fd >= 0 && offset >= (off_t)1 << 32 && kind_of_fd(fd) == kCard) {
    pthread_mutex_lock(&lock);
    const int i = buffer_of((uint32_t)(offset >> 32));
    const int memory = i >= 0 ? buffers[i].fd : -1;
    pthread_mutex_unlock(&lock);
    if (memory < 0) return MAP_FAILED;
    fd = memory;
    offset &= 0xffffffff;
  }
  return (void*)syscall(SYS_mmap, address, length, prot, flags, fd, offset);
}
void* mmap(void* address, size_t length, int prot, int flags, int fd, off_t offset) {
  return map(address, length, prot, flags, fd, offset);
}
void* mmap64(void* address, size_t length, int prot, int flags, int fd, off_t offset) {
  return map(address, length, prot, flags, fd, offset);
}

/* The mode is there only for calls that may make a file. */
#define OPEN(name)                                                    \
  int name(const char* path, int flags, ...) {                        \
    mode_t mode = 0;                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
      va_list list;                                                   \
      va_start(list, flags);                                          \
      mode = va_arg(list, mode_t);                                    \
      va_end(list);                                                   \
    }                                                                 \
    const enum kind kind = kind_of_path(path);                        \
    if (kind != kNone) return open_device(kind, flags);               \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);     \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                     \
  FILE* name(const char* path, const char* mode) {                      \
    if (kind_of_path(path) == kTree) {                                  \
      const int fd = open_device(kTree, O_CLOEXEC);                     \
      return fd >= 0 ? fdopen(fd, "r") : NULL;                          \
    }                                                                   \
    FILE* (*const next)(const char*, const char*) =                     \
        (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, #name); \
    return next != NULL ? next(path, mode) : NULL;                      \
  }
FOPEN(fopen)
FOPEN(fopen64)

int access(const char* path, int mode) {
  if (kind_of_path(path) != kNone) return 0;
  return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

/* Programs ask whether the file is there. */
static const char* stands_in(const char* path) {
  return kind_of_path(path) != kNone ? "/dev/null" : path;
}
int stat(const char* path, struct stat* out) { return fstatat(AT_FDCWD, stands_in(path), out, 0); }
int stat64(const char* path, struct stat64* out) {
  return fstatat64(AT_FDCWD, stands_in(path), out, 0);
}

void* dlopen(const char* path, int flags) {
  const char* const name =
      path != NULL && strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
  void* (*const next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  if (next == NULL) return NULL;
  /* This library is in the program's own scope. */
  return next(chip() != NULL && name != NULL && strncmp(name, "libdrm.so", 9) == 0 ? NULL : path,
              flags);
}
