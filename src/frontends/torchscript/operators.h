// SPDX-License-Identifier: Apache-2.0
// The functions behind the rows of operators.cpp, by file.
#pragma once

#include "frontends/torchscript/importer.h"

namespace rk::frontends::torchscript {

// PyTorch's number of a dtype; half, double and bfloat16 are float32 here. Nothing for complex and quantized ones.
std::optional<DType> dtype_of_torch(int64_t number);

// scalars.cpp: numbers, lists, questions about tensors
Status constant_node(Call& call);
Status list_construct(Call& call);
Status tuple_construct(Call& call);
Status dict_construct(Call& call);
Status list_unpack(Call& call);
Status get_item(Call& call);
Status append(Call& call);
Status same(Call& call);  // argument 0 as it is
Status nothing(Call& call);
Status raise(Call& call);
Status to_int(Call& call);
Status to_float(Call& call);
Status to_bool(Call& call);
Status size(Call& call);
Status dim(Call& call);
Status numel(Call& call);
Status length(Call& call);
Status dtype_query(Call& call);
Status is_floating(Call& call);
Status is_item(Call& call, bool equal);
Status logical_scalar(Call& call, std::string_view op);
Status contains(Call& call);
Status text_of(Call& call);
Status false_value(Call& call);
Status extreme_scalar(Call& call, bool largest);
Status integer_scalar(Call& call, double (*function)(double));
Status tensor_from_data(Call& call);
// Both arguments are numbers (or lists, where that means something): the result. `found` tells whether they were.
Status scalar_binary(Call& call, std::string_view op, bool& found);

// math.cpp
Status unary(Call& call, std::string_view op, AttrMap attrs = {});
Status unary_real(Call& call, std::string_view op, AttrMap attrs = {});  // integers become real numbers
Status binary(Call& call, std::string_view op);
Status add_sub(Call& call, std::string_view op);
Status reverse_sub(Call& call);
Status divide(Call& call);
Status floor_divide(Call& call);
Status remainder(Call& call, bool truncates);
Status power(Call& call);
Status not_equal(Call& call);
Status logical(Call& call, std::string_view op);
Status bitwise(Call& call, std::string_view logical_op, std::string_view integer_op);
Status logical_not(Call& call);
Status clamp(Call& call, size_t low, size_t high);
Status clipped(Call& call, double low, double high);
Status silu(Call& call);
Status gelu(Call& call);
Status softplus(Call& call);
Status elu(Call& call);
Status leaky_relu(Call& call);
Status rrelu(Call& call);
Status prelu(Call& call);
Status threshold(Call& call);
Status glu(Call& call);
Status shrink(Call& call, bool soft);
Status log_sigmoid(Call& call);
Status log_base(Call& call, double base);
Status log1p(Call& call);
Status expm1(Call& call);
Status rsqrt(Call& call);
Status square(Call& call);
Status erfc(Call& call);
Status trunc(Call& call);
Status lerp(Call& call);
Status add_product(Call& call, std::string_view op);
Status where(Call& call);
Status masked_fill(Call& call);
Status softmax(Call& call, std::string_view op);
Status reduce(Call& call, std::string_view op);
Status reduce_bool(Call& call, std::string_view op);
Status extreme(Call& call, bool largest);
Status amax(Call& call, std::string_view op);
Status arg_extreme(Call& call, std::string_view op);
Status variance(Call& call, bool root);
Status norm(Call& call);
Status logsumexp(Call& call);
Status cumsum(Call& call);

// move.cpp
Status view(Call& call);
Status view_as(Call& call);
Status flatten(Call& call);
Status unflatten(Call& call);
Status permute(Call& call);
Status transpose(Call& call);
Status transpose_2d(Call& call);
Status movedim(Call& call);
Status squeeze(Call& call);
Status unsqueeze(Call& call);
Status expand(Call& call);
Status expand_as(Call& call);
Status repeat(Call& call);
Status cat(Call& call);
Status stack(Call& call);
Status chunk(Call& call);
Status split(Call& call);
Status unbind(Call& call);
Status slice(Call& call);
Status select(Call& call);
Status narrow(Call& call);
Status index_select(Call& call);
Status gather(Call& call);
Status index(Call& call);
Status flip(Call& call);
Status roll(Call& call);
Status pixel_shuffle(Call& call);
Status pixel_unshuffle(Call& call);
Status channel_shuffle(Call& call);
Status convert(Call& call);
Status type_as(Call& call);
Status copy(Call& call);

// generate.cpp
Status filled(Call& call, double value);
Status full(Call& call);
Status filled_like(Call& call, double value);
Status full_like(Call& call);
Status new_filled(Call& call, double value);
Status new_full(Call& call);
Status arange(Call& call);
Status linspace(Call& call);
Status triangle(Call& call, bool upper);
Status topk(Call& call);
Status sort(Call& call);
Status one_hot(Call& call);
Status meshgrid(Call& call);
Status scatter(Call& call);
Status index_put(Call& call);

// picture.cpp
Status conv(Call& call, int spatial);
Status conv_transpose(Call& call, int spatial);
Status convolution(Call& call);
Status max_pool(Call& call, int spatial);
Status avg_pool(Call& call, int spatial);
Status adaptive_pool(Call& call, int spatial, bool largest);
Status resize(Call& call, std::string_view mode, bool exact = false);
Status grid_sampler(Call& call);
Status affine_grid(Call& call);
Status pad(Call& call);
Status constant_pad(Call& call);
Status mode_pad(Call& call, std::string_view mode);
Status batch_norm(Call& call);
Status instance_norm(Call& call);
Status group_norm(Call& call);
Status layer_norm(Call& call);

// matrix.cpp
Status linear(Call& call);
Status matmul(Call& call);
Status addmm(Call& call);
Status einsum(Call& call);
Status embedding(Call& call);
Status lstm(Call& call);
Status gru(Call& call);
Status rnn(Call& call, std::string_view activation);
Status lstm_cell(Call& call);
Status gru_cell(Call& call);
Status attention(Call& call);

// quantized.cpp
Status quantize_per_tensor(Call& call);
Status dequantize(Call& call);
Status quantized_conv(Call& call, bool relu);
Status quantized_linear(Call& call, bool relu);
Status conv_prepack(Call& call, int spatial);
Status linear_prepack(Call& call);
Status quantized_binary(Call& call, std::string_view op, bool relu);
Status quantized_scalar(Call& call, std::string_view op, bool relu);
Status quantized_cat(Call& call, bool relu);
Status quantized_unary(Call& call, std::string_view op, size_t scale_argument);
Status quantized_leaky_relu(Call& call);
Status quantized_batch_norm(Call& call, bool relu);
// aten::sigmoid and the like, whose kernels choose the range of a quantized result.
Status bounded(Call& call, std::string_view op, double low, double high);
Status quantized_bounded(Call& call, std::string_view op);
Status fake_quantize(Call& call);

}  // namespace rk::frontends::torchscript
