/* SPDX-License-Identifier: Apache-2.0
 * The kernel's calls for dumb buffers of a DRM device, as far as demos make them: structures and numbers as the kernel has
 * them, so that libdrm's headers are not needed. */
#ifndef OPENRKNN_DRM_ABI_H
#define OPENRKNN_DRM_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>

struct drm_create_dumb {
  uint32_t height, width, bpp, flags;
  uint32_t handle, pitch; /* answers */
  uint64_t size;
};
struct drm_map_dumb {
  uint32_t handle, pad;
  uint64_t offset; /* for mmap of the device */
};
struct drm_destroy_dumb {
  uint32_t handle;
};
struct drm_close_handle {
  uint32_t handle, pad;
};
struct drm_export_handle {
  uint32_t handle, flags;
  int32_t fd; /* answer */
};

#define DRM_CREATE_DUMB _IOWR('d', 0xb2, struct drm_create_dumb)
#define DRM_MAP_DUMB _IOWR('d', 0xb3, struct drm_map_dumb)
#define DRM_DESTROY_DUMB _IOWR('d', 0xb4, struct drm_destroy_dumb)
#define DRM_CLOSE_HANDLE _IOW('d', 0x09, struct drm_close_handle)
#define DRM_EXPORT_HANDLE _IOWR('d', 0x2d, struct drm_export_handle)

#endif
