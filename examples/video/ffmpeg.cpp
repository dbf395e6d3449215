// SPDX-License-Identifier: Apache-2.0
// Files through FFmpeg's libraries. The decoder asks for memory frame by frame (get_buffer2) and gets it from the pool, so what it
// writes is what the 2D engine reads.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <cstdio>

#include "video/frames.h"

namespace video {
namespace {

bool check(const char* call, int code) {
  if (code >= 0) return true;
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  std::fprintf(stderr, "%s: %s\n", call, text);
  return false;
}

class Decoded : public Source {
 public:
  explicit Decoded(FramePool* pool) : pool_(pool) {}
  ~Decoded() override {
    av_frame_free(&frame_);
    av_packet_free(&packet_);
    avcodec_free_context(&decoder_);
    avformat_close_input(&file_);
  }

  bool open(const std::string& path) {
    if (!check(path.c_str(), avformat_open_input(&file_, path.c_str(), nullptr, nullptr)) ||
        !check("avformat_find_stream_info", avformat_find_stream_info(file_, nullptr)))
      return false;
    const AVCodec* codec = nullptr;
    stream_ = av_find_best_stream(file_, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (!check("av_find_best_stream", stream_)) return false;
    decoder_ = avcodec_alloc_context3(codec);
    frame_ = av_frame_alloc();
    packet_ = av_packet_alloc();
    if (decoder_ == nullptr || frame_ == nullptr || packet_ == nullptr ||
        !check("avcodec_parameters_to_context",
               avcodec_parameters_to_context(decoder_, file_->streams[stream_]->codecpar)))
      return false;
    decoder_->thread_count = 1;  // a stream has one thread; the pool is not locked
    decoder_->thread_type = FF_THREAD_SLICE;
    decoder_->opaque = this;
    if (pool_ != nullptr && (codec->capabilities & AV_CODEC_CAP_DR1) != 0)
      decoder_->get_buffer2 = get_buffer;
    if (!check("avcodec_open2", avcodec_open2(decoder_, codec, nullptr))) return false;
    layout_ = {decoder_->width, decoder_->height, decoder_->width, decoder_->height};
    return true;
  }

  bool next(View* view) override {
    av_frame_unref(frame_);
    for (int code; (code = avcodec_receive_frame(decoder_, frame_)) != 0;) {
      if (code != AVERROR(EAGAIN) && code != AVERROR_EOF)
        return check("avcodec_receive_frame", code);
      if (code == AVERROR_EOF) {  // from the beginning
        if (!check("av_seek_frame", av_seek_frame(file_, stream_, 0, AVSEEK_FLAG_BACKWARD)))
          return false;
        avcodec_flush_buffers(decoder_);
      }
      if (!feed()) return false;
    }
    if (frame_->format != AV_PIX_FMT_YUV420P) {
      std::fprintf(stderr, "frames are not planar 4:2:0\n");
      return false;
    }
    view->frame = pool_ != nullptr ? pool_->find(frame_->data[0]) : nullptr;
    std::copy(frame_->data, frame_->data + 3, view->plane);
    std::copy(frame_->linesize, frame_->linesize + 3, view->line);
    return true;
  }
  const Layout& layout() const override { return layout_; }

 private:
  bool feed() {
    for (;;) {
      const int code = av_read_frame(file_, packet_);
      if (code == AVERROR_EOF)
        return check("avcodec_send_packet", avcodec_send_packet(decoder_, nullptr));
      if (!check("av_read_frame", code)) return false;
      const bool ours = packet_->stream_index == stream_;
      const int sent = ours ? avcodec_send_packet(decoder_, packet_) : 0;
      av_packet_unref(packet_);
      if (ours) return check("avcodec_send_packet", sent);
    }
  }

  static void release(void* frame, uint8_t*) { FramePool::give(static_cast<Frame*>(frame)); }

  static int get_buffer(AVCodecContext* decoder, AVFrame* frame, int flags) {
    auto& self = *static_cast<Decoded*>(decoder->opaque);
    if (frame->format != AV_PIX_FMT_YUV420P)
      return avcodec_default_get_buffer2(decoder, frame, flags);
    int wide = frame->width, tall = frame->height, align[AV_NUM_DATA_POINTERS] = {};
    avcodec_align_dimensions2(decoder, &wide, &tall, align);
    const int unit = 2 * std::max({64, align[0], align[1], align[2]});
    self.layout_.wstride = (wide + unit - 1) / unit * unit;
    self.layout_.hstride = (tall + 1) / 2 * 2;
    Frame* const memory = self.pool_->take(self.layout_);
    // Decoding goes on in FFmpeg's own memory; the caller sees that the frame is not in the pool.
    if (memory == nullptr) return avcodec_default_get_buffer2(decoder, frame, flags);
    frame->buf[0] = av_buffer_create(memory->address, self.layout_.size(), release, memory, 0);
    if (frame->buf[0] == nullptr) {
      FramePool::give(memory);
      return AVERROR(ENOMEM);
    }
    const ptrdiff_t luma = static_cast<ptrdiff_t>(self.layout_.wstride) * self.layout_.hstride;
    frame->data[0] = memory->address;
    frame->data[1] = memory->address + luma;
    frame->data[2] = memory->address + luma + luma / 4;
    frame->linesize[0] = self.layout_.wstride;
    frame->linesize[1] = frame->linesize[2] = self.layout_.wstride / 2;
    frame->extended_data = frame->data;
    return 0;
  }

  FramePool* pool_ = nullptr;
  Layout layout_;
  AVFormatContext* file_ = nullptr;
  AVCodecContext* decoder_ = nullptr;
  AVFrame* frame_ = nullptr;
  AVPacket* packet_ = nullptr;
  int stream_ = -1;
};

// Takes what the encoder has ready.
bool drain(AVCodecContext* encoder, AVFormatContext* file, AVPacket* packet) {
  for (;;) {
    const int code = avcodec_receive_packet(encoder, packet);
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return true;
    if (!check("avcodec_receive_packet", code)) return false;
    av_packet_rescale_ts(packet, encoder->time_base, file->streams[0]->time_base);
    if (!check("av_interleaved_write_frame", av_interleaved_write_frame(file, packet)))
      return false;
  }
}

bool write_frames(AVFormatContext* file, AVCodecContext* encoder, AVFrame* frame, AVPacket* packet,
                  int frames) {
  const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
  if (codec == nullptr || encoder == nullptr || frame == nullptr || packet == nullptr) return false;
  encoder->time_base = {1, 30};
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->gop_size = 12;
  encoder->bit_rate = int64_t{4} * encoder->width * encoder->height;
  if ((file->oformat->flags & AVFMT_GLOBALHEADER) != 0)
    encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  AVStream* const stream = avformat_new_stream(file, nullptr);
  if (stream == nullptr || !check("avcodec_open2", avcodec_open2(encoder, codec, nullptr)) ||
      !check("avcodec_parameters_from_context",
             avcodec_parameters_from_context(stream->codecpar, encoder)))
    return false;
  stream->time_base = encoder->time_base;
  if (!check("avio_open", avio_open(&file->pb, file->url, AVIO_FLAG_WRITE)) ||
      !check("avformat_write_header", avformat_write_header(file, nullptr)))
    return false;
  frame->format = encoder->pix_fmt;
  frame->width = encoder->width;
  frame->height = encoder->height;
  if (!check("av_frame_get_buffer", av_frame_get_buffer(frame, 0))) return false;
  for (int t = 0; t < frames; ++t) {
    if (!check("av_frame_make_writable", av_frame_make_writable(frame))) return false;
    draw_scene(encoder->width, encoder->height, 0, t, frame->data, frame->linesize);
    frame->pts = t;
    if (!check("avcodec_send_frame", avcodec_send_frame(encoder, frame)) ||
        !drain(encoder, file, packet))
      return false;
  }
  return check("avcodec_send_frame", avcodec_send_frame(encoder, nullptr)) &&
         drain(encoder, file, packet) && check("av_write_trailer", av_write_trailer(file));
}

}  // namespace

std::unique_ptr<Source> decoded(const std::string& path, FramePool* pool) {
  auto source = std::make_unique<Decoded>(pool);
  if (!source->open(path)) return nullptr;
  return source;
}

bool encode(const std::string& path, int width, int height, int frames) {
  AVFormatContext* file = nullptr;
  if (!check("avformat_alloc_output_context2",
             avformat_alloc_output_context2(&file, nullptr, nullptr, path.c_str())))
    return false;
  AVCodecContext* encoder = avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_MPEG4));
  AVFrame* frame = av_frame_alloc();
  AVPacket* packet = av_packet_alloc();
  if (encoder != nullptr) {
    encoder->width = width;
    encoder->height = height;
  }
  const bool ok = write_frames(file, encoder, frame, packet, frames);
  if (!ok) std::fprintf(stderr, "cannot write '%s'\n", path.c_str());
  av_packet_free(&packet);
  av_frame_free(&frame);
  avcodec_free_context(&encoder);
  avio_closep(&file->pb);
  avformat_free_context(file);
  return ok;
}

}  // namespace video
