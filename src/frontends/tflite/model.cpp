// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/model.h"

#include <array>
#include <set>

namespace rk::frontends::tflite {
namespace {

constexpr std::array kNames = {"ADD",
                               "AVERAGE_POOL_2D",
                               "CONCATENATION",
                               "CONV_2D",
                               "DEPTHWISE_CONV_2D",
                               "DEPTH_TO_SPACE",
                               "DEQUANTIZE",
                               "EMBEDDING_LOOKUP",
                               "FLOOR",
                               "FULLY_CONNECTED",
                               "HASHTABLE_LOOKUP",
                               "L2_NORMALIZATION",
                               "L2_POOL_2D",
                               "LOCAL_RESPONSE_NORMALIZATION",
                               "LOGISTIC",
                               "LSH_PROJECTION",
                               "LSTM",
                               "MAX_POOL_2D",
                               "MUL",
                               "RELU",
                               "RELU_N1_TO_1",
                               "RELU6",
                               "RESHAPE",
                               "RESIZE_BILINEAR",
                               "RNN",
                               "SOFTMAX",
                               "SPACE_TO_DEPTH",
                               "SVDF",
                               "TANH",
                               "CONCAT_EMBEDDINGS",
                               "SKIP_GRAM",
                               "CALL",
                               "CUSTOM",
                               "EMBEDDING_LOOKUP_SPARSE",
                               "PAD",
                               "UNIDIRECTIONAL_SEQUENCE_RNN",
                               "GATHER",
                               "BATCH_TO_SPACE_ND",
                               "SPACE_TO_BATCH_ND",
                               "TRANSPOSE",
                               "MEAN",
                               "SUB",
                               "DIV",
                               "SQUEEZE",
                               "UNIDIRECTIONAL_SEQUENCE_LSTM",
                               "STRIDED_SLICE",
                               "BIDIRECTIONAL_SEQUENCE_RNN",
                               "EXP",
                               "TOPK_V2",
                               "SPLIT",
                               "LOG_SOFTMAX",
                               "DELEGATE",
                               "BIDIRECTIONAL_SEQUENCE_LSTM",
                               "CAST",
                               "PRELU",
                               "MAXIMUM",
                               "ARG_MAX",
                               "MINIMUM",
                               "LESS",
                               "NEG",
                               "PADV2",
                               "GREATER",
                               "GREATER_EQUAL",
                               "LESS_EQUAL",
                               "SELECT",
                               "SLICE",
                               "SIN",
                               "TRANSPOSE_CONV",
                               "SPARSE_TO_DENSE",
                               "TILE",
                               "EXPAND_DIMS",
                               "EQUAL",
                               "NOT_EQUAL",
                               "LOG",
                               "SUM",
                               "SQRT",
                               "RSQRT",
                               "SHAPE",
                               "POW",
                               "ARG_MIN",
                               "FAKE_QUANT",
                               "REDUCE_PROD",
                               "REDUCE_MAX",
                               "PACK",
                               "LOGICAL_OR",
                               "ONE_HOT",
                               "LOGICAL_AND",
                               "LOGICAL_NOT",
                               "UNPACK",
                               "REDUCE_MIN",
                               "FLOOR_DIV",
                               "REDUCE_ANY",
                               "SQUARE",
                               "ZEROS_LIKE",
                               "FILL",
                               "FLOOR_MOD",
                               "RANGE",
                               "RESIZE_NEAREST_NEIGHBOR",
                               "LEAKY_RELU",
                               "SQUARED_DIFFERENCE",
                               "MIRROR_PAD",
                               "ABS",
                               "SPLIT_V",
                               "UNIQUE",
                               "CEIL",
                               "REVERSE_V2",
                               "ADD_N",
                               "GATHER_ND",
                               "COS",
                               "WHERE",
                               "RANK",
                               "ELU",
                               "REVERSE_SEQUENCE",
                               "MATRIX_DIAG",
                               "QUANTIZE",
                               "MATRIX_SET_DIAG",
                               "ROUND",
                               "HARD_SWISH",
                               "IF",
                               "WHILE",
                               "NON_MAX_SUPPRESSION_V4",
                               "NON_MAX_SUPPRESSION_V5",
                               "SCATTER_ND",
                               "SELECT_V2",
                               "DENSIFY",
                               "SEGMENT_SUM",
                               "BATCH_MATMUL",
                               "PLACEHOLDER_FOR_GREATER_OP_CODES",
                               "CUMSUM",
                               "CALL_ONCE",
                               "BROADCAST_TO",
                               "RFFT2D",
                               "CONV_3D",
                               "IMAG",
                               "REAL",
                               "COMPLEX_ABS",
                               "HASHTABLE",
                               "HASHTABLE_FIND",
                               "HASHTABLE_IMPORT",
                               "HASHTABLE_SIZE",
                               "REDUCE_ALL",
                               "CONV_3D_TRANSPOSE",
                               "VAR_HANDLE",
                               "READ_VARIABLE",
                               "ASSIGN_VARIABLE",
                               "BROADCAST_ARGS",
                               "RANDOM_STANDARD_NORMAL",
                               "BUCKETIZE",
                               "RANDOM_UNIFORM",
                               "MULTINOMIAL",
                               "GELU",
                               "DYNAMIC_UPDATE_SLICE",
                               "RELU_0_TO_1",
                               "UNSORTED_SEGMENT_PROD",
                               "UNSORTED_SEGMENT_MAX",
                               "UNSORTED_SEGMENT_SUM",
                               "ATAN2",
                               "UNSORTED_SEGMENT_MIN",
                               "SIGN"};

struct TypeRow {
  const char* name;
  DType dtype;
};

// In the order of TensorType.
constexpr std::array kTypes = {
    TypeRow{"FLOAT32", DType::kF32},         TypeRow{"FLOAT16", DType::kF16},
    TypeRow{"INT32", DType::kI32},           TypeRow{"UINT8", DType::kU8},
    TypeRow{"INT64", DType::kI64},           TypeRow{"STRING", DType::kUndefined},
    TypeRow{"BOOL", DType::kBool},           TypeRow{"INT16", DType::kI16},
    TypeRow{"COMPLEX64", DType::kUndefined}, TypeRow{"INT8", DType::kI8},
    TypeRow{"FLOAT64", DType::kF64},         TypeRow{"COMPLEX128", DType::kUndefined},
    TypeRow{"UINT64", DType::kU64},          TypeRow{"RESOURCE", DType::kUndefined},
    TypeRow{"VARIANT", DType::kUndefined},   TypeRow{"UINT32", DType::kU32},
    TypeRow{"UINT16", DType::kU16},          TypeRow{"INT4", DType::kUndefined},
    TypeRow{"BFLOAT16", DType::kBF16},
};

Result<std::vector<int64_t>> read_dims(const FlatTable& table, int slot) {
  RK_ASSIGN(const std::vector<int32_t> dims, table.vector<int32_t>(slot));
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    return table.slot_error(
        slot, str("a tensor of ", dims.size(), " dimensions; at most ", kMaxRank, " are taken"));
  }
  return std::vector<int64_t>(dims.begin(), dims.end());
}

Status read_quantization(const FlatTable& table, TfTensor& tensor) {
  RK_ASSIGN(tensor.scale, table.vector<float>(2));
  RK_ASSIGN(tensor.zero_point, table.vector<int64_t>(3));
  RK_ASSIGN(tensor.axis, table.scalar<int32_t>(6, 0));
  // Note: files of old converters hold only min and max here; those say nothing of integers.
  if (tensor.scale.empty()) return ok_status();
  if (tensor.zero_point.empty()) tensor.zero_point.assign(tensor.scale.size(), 0);
  if (tensor.zero_point.size() == 1)
    tensor.zero_point.resize(tensor.scale.size(), tensor.zero_point[0]);
  if (tensor.zero_point.size() != tensor.scale.size()) {
    return table.slot_error(
        3, str(tensor.zero_point.size(), " zero points for ", tensor.scale.size(), " scales"));
  }
  for (const float scale : tensor.scale) {
    if (!(scale >= 0) || scale > 1e30f) return table.slot_error(2, str("scale ", scale));
  }
  // Micro models carry the filter's axis on one-dimensional biases; there is only one axis it can mean.
  if (tensor.dims.size() == 1) tensor.axis = 0;
  return ok_status();
}

Result<TfTensor> read_tensor(const FlatTable& table, const std::vector<ByteSpan>& buffers,
                             size_t index, std::set<std::string>& names) {
  TfTensor tensor;
  RK_ASSIGN(tensor.dims, read_dims(table, 0));
  RK_ASSIGN(const int8_t type, table.scalar<int8_t>(1, 0));
  if (type < 0 || static_cast<size_t>(type) >= kTypes.size()) {
    tensor.foreign_type = str("type number ", static_cast<int>(type));
  } else if (kTypes[static_cast<size_t>(type)].dtype == DType::kUndefined) {
    tensor.foreign_type = kTypes[static_cast<size_t>(type)].name;
  } else {
    tensor.dtype = kTypes[static_cast<size_t>(type)].dtype;
  }
  RK_ASSIGN(const uint32_t buffer, table.scalar<uint32_t>(2, 0));
  if (buffer >= buffers.size()) {
    return table.slot_error(2, str("buffer ", buffer, " of ", buffers.size()));
  }
  tensor.data = buffers[buffer];
  RK_ASSIGN(auto name, table.string(3));
  tensor.name = name && !name->empty() ? *name : str("tensor_", index);
  // Names need not be unique in a file; in a graph they must.
  if (!names.insert(tensor.name).second) tensor.name += str("_", index);
  names.insert(tensor.name);
  RK_ASSIGN(auto quantization, table.table(4, "QuantizationParameters"));
  if (quantization) RK_TRY(read_quantization(*quantization, tensor));
  RK_ASSIGN(auto sparsity, table.table(6, "SparsityParameters"));
  if (sparsity) {
    RK_ASSIGN(tensor.sparsity, read_sparsity(*sparsity));
  }
  RK_ASSIGN(tensor.signature, read_dims(table, 7));
  if (tensor.signature.size() != tensor.dims.size()) tensor.signature.clear();
  return tensor;
}

struct OperatorCode {
  Code code;
  std::string custom_name;
};

Result<OperatorCode> read_code(const FlatTable& table) {
  // The first field is a byte and ran out of numbers; later files use the last.
  RK_ASSIGN(const int8_t old_code, table.scalar<int8_t>(0, 0));
  RK_ASSIGN(const int32_t new_code, table.scalar<int32_t>(3, 0));
  RK_ASSIGN(auto custom, table.string(1));
  return OperatorCode{static_cast<Code>(std::max<int32_t>(old_code, new_code)),
                      custom.value_or("")};
}

Status check_indices(const FlatTable& table, int slot, const std::vector<int32_t>& indices,
                     size_t count, int32_t least) {
  for (const int32_t index : indices) {
    if (index >= least && (index < 0 || static_cast<size_t>(index) < count)) continue;
    return table.slot_error(slot, str("tensor ", index, " of ", count));
  }
  return ok_status();
}

Result<TfOperator> read_operator(const FlatTable& table, const std::vector<OperatorCode>& codes,
                                 size_t tensors) {
  TfOperator op;
  RK_ASSIGN(const uint32_t code, table.scalar<uint32_t>(0, 0));
  if (code >= codes.size()) {
    return table.slot_error(0, str("operator code ", code, " of ", codes.size()));
  }
  op.code = codes[code].code;
  op.custom_name = codes[code].custom_name;
  RK_ASSIGN(op.inputs, table.vector<int32_t>(1));
  RK_ASSIGN(op.outputs, table.vector<int32_t>(2));
  RK_TRY(check_indices(table, 1, op.inputs, tensors, -1));
  RK_TRY(check_indices(table, 2, op.outputs, tensors, 0));
  RK_ASSIGN(op.options, table.table(4, "BuiltinOptions"));
  RK_ASSIGN(const ByteSpan custom, table.bytes(5));
  op.has_custom_options = !custom.empty();
  return op;
}

}  // namespace

std::string to_string(Code code) {
  const auto number = static_cast<int32_t>(code);
  if (number < 0 || static_cast<size_t>(number) >= kNames.size()) {
    return str("operator number ", number);
  }
  return kNames[static_cast<size_t>(number)];
}

Result<TfModel> read_model(const FlatRegion& region) {
  RK_ASSIGN(const FlatTable root, FlatTable::root(region, "Model"));
  RK_ASSIGN(const uint32_t version, root.scalar<uint32_t>(0, 0));
  if (version != 3) {
    return unsupported(str("this is TFLite schema ", version, "; schema 3 is taken"));
  }
  std::vector<OperatorCode> codes;
  RK_ASSIGN(const auto code_tables, root.tables(1, "OperatorCode"));
  for (const FlatTable& table : code_tables) {
    RK_ASSIGN(OperatorCode code, read_code(table));
    codes.push_back(std::move(code));
  }
  std::vector<ByteSpan> buffers;
  RK_ASSIGN(const auto buffer_tables, root.tables(4, "Buffer"));
  for (const FlatTable& table : buffer_tables) {
    RK_ASSIGN(const ByteSpan data, table.bytes(0));
    RK_ASSIGN(const uint64_t outside, table.scalar<uint64_t>(1, 0));
    if (outside > 1) {
      return unsupported(
          "the model keeps its weights outside the flatbuffer, as files above 2 GiB do; "
          "this is not taken");
    }
    buffers.push_back(data);
  }
  RK_ASSIGN(const auto graphs, root.tables(2, "SubGraph"));
  if (graphs.empty()) return invalid_model("the file holds no subgraph");
  TfModel model;
  model.subgraphs = graphs.size();
  const FlatTable& graph = graphs[0];
  RK_ASSIGN(const auto tensor_tables, graph.tables(0, "Tensor"));
  std::set<std::string> names;
  for (const FlatTable& table : tensor_tables) {
    RK_ASSIGN(TfTensor tensor, read_tensor(table, buffers, model.tensors.size(), names));
    model.tensors.push_back(std::move(tensor));
  }
  RK_ASSIGN(model.inputs, graph.vector<int32_t>(1));
  RK_ASSIGN(model.outputs, graph.vector<int32_t>(2));
  RK_TRY(check_indices(graph, 1, model.inputs, model.tensors.size(), 0));
  RK_TRY(check_indices(graph, 2, model.outputs, model.tensors.size(), 0));
  RK_ASSIGN(const auto operator_tables, graph.tables(3, "Operator"));
  for (const FlatTable& table : operator_tables) {
    RK_ASSIGN(TfOperator op, read_operator(table, codes, model.tensors.size()));
    model.operators.push_back(std::move(op));
  }
  return model;
}

}  // namespace rk::frontends::tflite
