// SPDX-License-Identifier: Apache-2.0
// The text file that lists calibration samples, and pictures in the form a model's input wants.
//
// Note: names are relative to the folder of the text file, not to the current one.
#pragma once

#include <string>
#include <vector>

#include "media/picture.h"

namespace rk::media {

struct DatasetFile {
  std::string path;  // resolved
  bool is_npy = false;
};

struct DatasetSample {
  int line = 0;                    // in the text file, from 1
  std::vector<DatasetFile> files;  // one for each input of the model
};

struct Dataset {
  std::string path;
  std::vector<DatasetSample> samples;
};

// One sample a line, the files of several inputs separated by blanks or tabs (so a name cannot hold
// one); empty lines and carriage returns are ignored. Every file is opened and must begin like a
// JPEG, PNG, BMP or .npy file. A failure names the text file, the line and the file; so does a line
// with another number of files than the first.
Result<Dataset> read_dataset(const std::string& path);

// How a model's input wants a picture.
struct ImageForm {
  int width = 0;
  int height = 0;
  int channels = 3;      // 1 decodes to grey, see media/picture.h
  bool rgb2bgr = false;  // blue first; nothing to swap when there is one channel
};

// Decoded, resized (media/resize.h; the sides' ratio is not kept), swapped if asked: one sample of
// NHWC uint8.
Result<Picture> load_image_as(const std::string& path, const ImageForm& form);

}  // namespace rk::media
