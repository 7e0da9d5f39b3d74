// The leg through the C++ headers: makes of a case the call that a kernel would write, so that overloads, masks as numbers and as arrays,
// isSetMask, parameter structs and scalars are passed by sim/include. The model is the same as for the plain C calls.
#include "kernel_operator.h"

#include "fuzz.h"

using namespace AscendC;

namespace {
struct caller {
  const fz_case *c;
  const acsim_local *dst, *a, *b, *m;
  int32_t line;
};
#define AT "case", k.line
template <typename T> LocalTensor<T> tensor(const acsim_local *v) {
  LocalTensor<T> t;
  if (v) t.view_ = *v;
  return t;
}
template <typename T> T scalar(const fz_case *c) {
  if constexpr (acsim::type_of<T>::floating)
    return static_cast<T>(static_cast<float>(c->f));
  else
    return static_cast<T>(c->i);
}
UnaryRepeatParams unary(const acsim_repeat &r) {
  return UnaryRepeatParams(r.dst_block, r.a_block, static_cast<uint8_t>(r.dst_repeat),
                           static_cast<uint8_t>(r.a_repeat));
}
BinaryRepeatParams binary(const acsim_repeat &r) {
  return BinaryRepeatParams(static_cast<uint8_t>(r.dst_block), static_cast<uint8_t>(r.a_block),
                            static_cast<uint8_t>(r.b_block), static_cast<uint8_t>(r.dst_repeat),
                            static_cast<uint8_t>(r.a_repeat), static_cast<uint8_t>(r.b_repeat));
}
/* The mask as this case gives it: f(number or array, isSetMask). */
template <typename F> void with_mask(const acsim_repeat &r, F f) {
  uint64_t bits[2] = {r.mask[0], r.mask[1]};
  if (r.form == ACSIM_MASK_FIRST)
    f(static_cast<uint64_t>(r.first));
  else
    f(static_cast<const uint64_t *>(bits));
}

/* TARGS: template arguments before isSetMask; ARGS: the operands. */
#define FORMS(Name, TARGS, ARGS, params)                                                          \
  do {                                                                                            \
    const acsim_repeat &r = k.c->r;                                                               \
    if (!k.c->repeated && k.c->by_register)                                                       \
      Name<TARGS, false>(ARGS, static_cast<int32_t>(k.c->count), AT);                             \
    else if (!k.c->repeated)                                                                      \
      Name(ARGS, static_cast<int32_t>(k.c->count), AT);                                           \
    else if (r.form == ACSIM_MASK_REGISTER)                                                       \
      Name<TARGS, false>(ARGS, static_cast<uint64_t>(MASK_PLACEHOLDER), r.repeat, params(r), AT); \
    else                                                                                          \
      with_mask(r, [&](auto mask) { Name(ARGS, mask, r.repeat, params(r), AT); });                \
  } while (0)
#define COMMA ,

template <typename T> bool same_type(const caller &k) {
  LocalTensor<T> d = tensor<T>(k.dst), a = tensor<T>(k.a), b = tensor<T>(k.b);
  T s = scalar<T>(k.c);
  switch (k.c->op) {
#define UNARY(Name) \
  case ACSIM_OP_##Name: FORMS(Name, T, d COMMA a, unary); return true
    UNARY(Exp);
    UNARY(Ln);
    UNARY(Abs);
    UNARY(Reciprocal);
    UNARY(Sqrt);
    UNARY(Rsqrt);
    UNARY(Relu);
    UNARY(Not);
#define BINARY(Name) \
  case ACSIM_OP_##Name: FORMS(Name, T, d COMMA a COMMA b, binary); return true
    BINARY(Add);
    BINARY(Sub);
    BINARY(Mul);
    BINARY(Div);
    BINARY(Max);
    BINARY(Min);
    BINARY(And);
    BINARY(Or);
    BINARY(AddRelu);
    BINARY(SubRelu);
    BINARY(FusedMulAdd);
    BINARY(FusedMulAddRelu);
#define SCALAR(Name) \
  case ACSIM_OP_##Name: FORMS(Name, T, d COMMA a COMMA s, unary); return true
    SCALAR(Adds);
    SCALAR(Muls);
    SCALAR(Maxs);
    SCALAR(Mins);
    SCALAR(LeakyRelu);
    SCALAR(ShiftLeft);
    SCALAR(ShiftRight);
  default: return false;
  }
}

template <typename D, typename T> bool two_types(const caller &k) {
  LocalTensor<D> d = tensor<D>(k.dst);
  LocalTensor<T> a = tensor<T>(k.a), b = tensor<T>(k.b);
  T s = scalar<T>(k.c);
  RoundMode round = static_cast<RoundMode>(k.c->mode);
  switch (k.c->op) {
  case ACSIM_OP_Cast: FORMS(Cast, D COMMA T, d COMMA a COMMA round, unary); return true;
  case ACSIM_OP_Axpy: FORMS(Axpy, D COMMA T, d COMMA a COMMA s, unary); return true;
  case ACSIM_OP_MulAddDst: FORMS(MulAddDst, D COMMA T, d COMMA a COMMA b, binary); return true;
  default: return false;
  }
}

template <typename T> bool compares(const caller &k) {
  LocalTensor<uint8_t> d = tensor<uint8_t>(k.dst);
  LocalTensor<T> a = tensor<T>(k.a), b = tensor<T>(k.b);
  CMPMODE mode = static_cast<CMPMODE>(k.c->mode);
  const acsim_repeat &r = k.c->r;
  T s = scalar<T>(k.c);
  if (k.c->op == ACSIM_OP_CompareScalar) {
    FORMS(CompareScalar, T COMMA uint8_t, d COMMA a COMMA s COMMA mode, unary);
    return true;
  }
  if (k.dst) {
    FORMS(Compare, T COMMA uint8_t, d COMMA a COMMA b COMMA mode, binary);
    return true;
  }
  if (r.form == ACSIM_MASK_REGISTER)
    Compare<T, false>(a, b, mode, static_cast<uint64_t>(MASK_PLACEHOLDER), binary(r), AT);
  else
    with_mask(r, [&](auto mask) { Compare(a, b, mode, mask, binary(r), AT); });
  return true;
}

template <typename T> bool selects(const caller &k) {
  LocalTensor<T> d = tensor<T>(k.dst), a = tensor<T>(k.a), b = tensor<T>(k.b);
  LocalTensor<uint8_t> m = tensor<uint8_t>(k.m);
  SELMODE mode = static_cast<SELMODE>(k.c->mode);
  const acsim_repeat &r = k.c->r;
  T s = scalar<T>(k.c);
  bool byte = r.repeat >= 0 && r.repeat <= 255;
  if (k.c->by_cmpmask) {
    if (!byte) return false;
    if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE)
      Select(d, m, a, static_cast<uint8_t>(r.repeat), binary(r), AT);
    else
      Select<T, SELMODE::VSEL_TENSOR_TENSOR_MODE>(d, a, b, static_cast<uint8_t>(r.repeat), binary(r), AT);
  } else if (!k.m) {
    if (!byte) return false; /* the parameter is a byte */
    Select<T, SELMODE::VSEL_CMPMASK_SPR>(d, a, b, static_cast<uint8_t>(r.repeat), binary(r), AT);
  } else if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) {
    FORMS(Select, T COMMA uint8_t, d COMMA m COMMA a COMMA s COMMA mode, binary);
  } else {
    FORMS(Select, T COMMA uint8_t, d COMMA m COMMA a COMMA b COMMA mode, binary);
  }
  return true;
}

template <typename T> bool reductions(const caller &k) {
  LocalTensor<T> d = tensor<T>(k.dst), a = tensor<T>(k.a), w = tensor<T>(k.b);
  const acsim_repeat &r = k.c->r;
  bool index = k.c->mode != 0;
  int32_t n = static_cast<int32_t>(k.c->count), dr = r.dst_repeat, ab = r.a_block, ar = r.a_repeat;
  ReduceOrder order = static_cast<ReduceOrder>(k.c->mode);
  if (r.form == ACSIM_MASK_FIRST && r.first > 0x7fffffff) return false;
  bool reg = k.c->repeated && r.form == ACSIM_MASK_REGISTER;
  auto number = [&](auto f) { /* masks are int32_t here */
                              uint64_t bits[2] = {r.mask[0], r.mask[1]};
                              if (r.form == ACSIM_MASK_FIRST)
                                f(static_cast<int32_t>(r.first));
                              else
                                f(static_cast<const uint64_t *>(bits));
  };
  switch (k.c->op) {
  case ACSIM_OP_ReduceSum:
    if (!k.c->repeated)
      ReduceSum(d, a, w, n, AT);
    else
      number([&](auto mask) { ReduceSum(d, a, w, mask, r.repeat, ar, AT); });
    return true;
#define EXTREME(Name)                                                           \
  case ACSIM_OP_##Name:                                                         \
    if (!k.c->repeated)                                                         \
      Name(d, a, w, n, index, AT);                                              \
    else                                                                        \
      number([&](auto mask) { Name(d, a, w, mask, r.repeat, ar, index, AT); }); \
    return true
    EXTREME(ReduceMax);
    EXTREME(ReduceMin);
  case ACSIM_OP_WholeReduceSum:
    if (reg)
      WholeReduceSum<T, false>(d, a, static_cast<int32_t>(MASK_PLACEHOLDER), r.repeat, dr, ab, ar, AT);
    else
      number([&](auto mask) { WholeReduceSum(d, a, mask, r.repeat, dr, ab, ar, AT); });
    return true;
#define WHOLE(Name)                                                                                  \
  case ACSIM_OP_##Name:                                                                              \
    if (reg)                                                                                         \
      Name<T, false>(d, a, static_cast<int32_t>(MASK_PLACEHOLDER), r.repeat, dr, ab, ar, order, AT); \
    else                                                                                             \
      number([&](auto mask) { Name(d, a, mask, r.repeat, dr, ab, ar, order, AT); });                 \
    return true
    WHOLE(WholeReduceMax);
    WHOLE(WholeReduceMin);
#define PART(Name)                                                                            \
  case ACSIM_OP_##Name:                                                                       \
    if (reg)                                                                                  \
      Name<T, false>(d, a, r.repeat, static_cast<int32_t>(MASK_PLACEHOLDER), dr, ab, ar, AT); \
    else                                                                                      \
      number([&](auto mask) { Name(d, a, r.repeat, mask, dr, ab, ar, AT); });                 \
    return true
    PART(BlockReduceSum);
    PART(BlockReduceMax);
    PART(BlockReduceMin);
    PART(PairReduceSum);
  default: return false;
  }
}

template <typename T> bool moves(const caller &k) {
  LocalTensor<T> d = tensor<T>(k.dst), a = tensor<T>(k.a);
  LocalTensor<uint32_t> offset = tensor<uint32_t>(k.b);
  const acsim_repeat &r = k.c->r;
  T s = scalar<T>(k.c);
  bool byte = r.repeat >= 0 && r.repeat <= 255;
  uint64_t bits[2] = {r.mask[0], r.mask[1]}, kept;
  switch (k.c->op) {
  case ACSIM_OP_Duplicate:
    if (!k.c->repeated)
      Duplicate(d, s, static_cast<int64_t>(k.c->count), AT);
    else if (r.form == ACSIM_MASK_REGISTER)
      Duplicate<T, false>(d, s, static_cast<uint64_t>(MASK_PLACEHOLDER), r.repeat, r.dst_block,
                          static_cast<uint8_t>(r.dst_repeat), AT);
    else
      with_mask(r, [&](auto mask) {
        Duplicate(d, s, mask, r.repeat, r.dst_block, static_cast<uint8_t>(r.dst_repeat), AT);
      });
    return true;
  case ACSIM_OP_Copy: {
    CopyRepeatParams p(r.dst_block, r.a_block, r.dst_repeat, r.a_repeat);
    if (r.form == ACSIM_MASK_REGISTER)
      Copy<T, false>(d, a, static_cast<uint64_t>(MASK_PLACEHOLDER), r.repeat, p, AT);
    else
      with_mask(r, [&](auto mask) { Copy(d, a, mask, r.repeat, p, AT); });
    return true;
  }
  case ACSIM_OP_Brcb: Brcb(d, a, r.repeat, BrcbRepeatParams(r.dst_block, r.dst_repeat), AT); return true;
  case ACSIM_OP_CreateVecIndex:
    if (!byte || (k.c->repeated && r.form == ACSIM_MASK_REGISTER) || k.c->count < 0) return false;
    if (!k.c->repeated)
      CreateVecIndex(d, s, static_cast<uint32_t>(k.c->count), AT);
    else if (r.form == ACSIM_MASK_FIRST)
      CreateVecIndex(d, s, r.first, static_cast<uint8_t>(r.repeat), r.dst_block, static_cast<uint8_t>(r.dst_repeat),
                     AT);
    else
      CreateVecIndex(d, s, bits, static_cast<uint8_t>(r.repeat), r.dst_block, static_cast<uint8_t>(r.dst_repeat), AT);
    return true;
  case ACSIM_OP_Gather:
    if (!byte || (k.c->repeated && r.form == ACSIM_MASK_REGISTER) || k.c->count < 0) return false;
    if (!k.c->repeated)
      Gather(d, a, offset, static_cast<uint32_t>(k.c->i), static_cast<uint32_t>(k.c->count), AT);
    else
      with_mask(r, [&](auto mask) {
        Gather(d, a, offset, static_cast<uint32_t>(k.c->i), mask, static_cast<uint8_t>(r.repeat), r.dst_repeat, AT);
      });
    return true;
  case ACSIM_OP_Gatherb:
    if (!byte) return false;
    Gatherb(d, a, offset, static_cast<uint8_t>(r.repeat),
            GatherRepeatParams(static_cast<uint8_t>(r.dst_block), static_cast<uint8_t>(r.dst_repeat)), AT);
    return true;
  case ACSIM_OP_GatherMask: {
    if (r.repeat < 0) return false;
    GatherMaskParams p(static_cast<uint8_t>(r.a_block), static_cast<uint16_t>(r.repeat), r.a_repeat,
                       static_cast<uint8_t>(r.b_repeat));
    uint32_t mask = static_cast<uint32_t>(k.c->count);
    if (!k.b)
      GatherMask(d, a, static_cast<uint8_t>(k.c->mode), k.c->count > 0, mask, p, kept, AT);
    else if constexpr (sizeof(T) == 2)
      GatherMask(d, a, tensor<uint16_t>(k.b), k.c->count > 0, mask, p, kept, AT);
    else
      GatherMask(d, a, tensor<uint32_t>(k.b), k.c->count > 0, mask, p, kept, AT);
    return true;
  }
  default: return false;
  }
}

template <typename T> bool of_type(const caller &k) {
  return same_type<T>(k) || moves<T>(k);
}
template <typename T> bool of_float(const caller &k) {
  switch (k.c->op) {
  case ACSIM_OP_Compare:
  case ACSIM_OP_CompareScalar: return k.c->dst_type == (k.dst ? ACSIM_U8 : k.c->type) && compares<T>(k);
  case ACSIM_OP_Select: return selects<T>(k);
  default: return reductions<T>(k) || of_type<T>(k);
  }
}
template <typename T> bool to_any(const caller &k) {
  switch (k.c->dst_type) {
  case ACSIM_F32: return two_types<float, T>(k);
  case ACSIM_F16: return two_types<half, T>(k);
  case ACSIM_BF16: return two_types<bfloat16_t, T>(k);
  case ACSIM_I8: return two_types<int8_t, T>(k);
  case ACSIM_U8: return two_types<uint8_t, T>(k);
  case ACSIM_I16: return two_types<int16_t, T>(k);
  case ACSIM_I32: return two_types<int32_t, T>(k);
  case ACSIM_I64: return two_types<int64_t, T>(k);
  default: return false;
  }
}
bool resizes(const caller &k) {
  switch (k.c->type) {
  case ACSIM_F32: return to_any<float>(k);
  case ACSIM_F16: return to_any<half>(k);
  case ACSIM_BF16: return to_any<bfloat16_t>(k);
  case ACSIM_I8: return to_any<int8_t>(k);
  case ACSIM_U8: return to_any<uint8_t>(k);
  case ACSIM_I16: return to_any<int16_t>(k);
  case ACSIM_I32: return to_any<int32_t>(k);
  case ACSIM_I64: return to_any<int64_t>(k);
  default: return false;
  }
}
} // namespace

/* False: the headers have no such call (types, or numbers that do not fit into their parameters). */
extern "C" bool fz_through_headers(const fz_case *c, const acsim_local *dst, const acsim_local *a,
                                   const acsim_local *b, const acsim_local *m, int32_t line) {
  caller k = {c, dst, a, b, m, line};
  const acsim_repeat &r = c->r;
  if (c->repeated && (r.dst_block > 255 || r.a_block > 255 || r.b_block > 255)) return false;
  if (c->op == ACSIM_OP_Cast || c->op == ACSIM_OP_Axpy || c->op == ACSIM_OP_MulAddDst) return resizes(k);
  if (c->dst_type != c->type && c->op != ACSIM_OP_Compare && c->op != ACSIM_OP_CompareScalar) return false;
  switch (c->type) {
  case ACSIM_F32: return of_float<float>(k);
  case ACSIM_F16: return of_float<half>(k);
  case ACSIM_BF16: return of_type<bfloat16_t>(k);
  case ACSIM_I16: return of_type<int16_t>(k);
  case ACSIM_U16: return of_type<uint16_t>(k);
  case ACSIM_I32:
    if (c->op == ACSIM_OP_Compare || c->op == ACSIM_OP_CompareScalar)
      return c->dst_type == (dst ? ACSIM_U8 : c->type) && compares<int32_t>(k);
    return of_type<int32_t>(k);
  case ACSIM_U32: return of_type<uint32_t>(k);
  default: return false;
  }
}

template <typename T>
static bool copies(const fz_case *c, const acsim_local *dst, const acsim_local *src, const acsim_global *g,
                   int32_t line) {
  caller k = {c, dst, src, nullptr, nullptr, line};
  const acsim_copy &p = c->copy;
  LocalTensor<T> d = tensor<T>(dst), a = tensor<T>(src);
  GlobalTensor<T> gm;
  gm.view_ = *g;
  bool in = c->kind == FZ_COPY_IN, local = c->kind == FZ_COPY_LOCAL;
  if (p.form == ACSIM_COPY_COUNT) {
    int64_t n = p.bytes / static_cast<int64_t>(sizeof(T));
    if (in)
      DataCopy(d, gm, n, AT);
    else if (local)
      DataCopy(d, a, n, AT);
    else
      DataCopy(gm, a, n, AT);
    return true;
  }
  if (p.blocks > 65535) return false;
  uint16_t blocks = static_cast<uint16_t>(p.blocks);
  if (p.form == ACSIM_COPY_BLOCKS) {
    if (p.bytes / 32 > 65535) return false;
    DataCopyParams q(blocks, static_cast<uint16_t>(p.bytes / 32), static_cast<uint16_t>(p.src_gap / 32),
                     static_cast<uint16_t>(p.dst_gap / 32));
    if (in)
      DataCopy(d, gm, q, AT);
    else if (local)
      DataCopy(d, a, q, AT);
    else
      DataCopy(gm, a, q, AT);
    return true;
  }
  int64_t src_unit = in ? 1 : 32, dst_unit = in ? 32 : 1;
  if (p.left > 255 || p.right > 255) return false;
  uint8_t left = static_cast<uint8_t>(p.left), right = static_cast<uint8_t>(p.right);
  if (!p.ext) {
    if (p.bytes > 65535) return false;
    DataCopyParams q(blocks, static_cast<uint16_t>(p.bytes), static_cast<uint16_t>(p.src_gap / src_unit),
                     static_cast<uint16_t>(p.dst_gap / dst_unit));
    if (in)
      DataCopyPad(d, gm, q, DataCopyPadParams(p.is_pad, left, right, p.pad_bits), AT);
    else
      DataCopyPad(gm, a, q, AT);
    return true;
  }
  DataCopyExtParams q(blocks, static_cast<uint32_t>(p.bytes), static_cast<uint32_t>(p.src_gap / src_unit),
                      static_cast<uint32_t>(p.dst_gap / dst_unit), 0);
  T value;
  __builtin_memcpy(&value, &p.pad_bits, sizeof(T));
  if (in)
    DataCopyPad(d, gm, q, DataCopyPadExtParams<T>(p.is_pad, left, right, value), AT);
  else
    DataCopyPad(gm, a, q, AT);
  return true;
}
template <typename T>
static bool slices(const fz_case *c, const acsim_local *dst, const acsim_local *src, const acsim_global *g,
                   int32_t line) {
  caller k = {c, dst, src, nullptr, nullptr, line};
  GlobalTensor<T> gm;
  gm.view_ = *g;
  SliceInfo to[K_MAX_DIM], from[K_MAX_DIM];
  if (c->dims > K_MAX_DIM || !c->from[0].shape) return false;
  for (uint32_t i = 0; i < c->dims; i++) {
    const acsim_slice &t = c->to[i], &f = c->from[i];
    to[i] = SliceInfo(t.start, t.end, t.stride, t.burst, t.shape);
    from[i] = SliceInfo(f.start, f.end, f.stride, f.burst, f.shape);
  }
  if (c->kind == FZ_SLICE_IN)
    DataCopy(tensor<T>(dst), gm, to, from, c->dims, AT);
  else
    DataCopy(gm, tensor<T>(src), to, from, c->dims, AT);
  return true;
}
extern "C" bool fz_copy_through_headers(const fz_case *c, const acsim_local *dst, const acsim_local *src,
                                        const acsim_global *g, int32_t line) {
  if (c->kind == FZ_SLICE_IN || c->kind == FZ_SLICE_OUT) switch (c->type) {
    case ACSIM_F32: return slices<float>(c, dst, src, g, line);
    case ACSIM_F16: return slices<half>(c, dst, src, g, line);
    case ACSIM_I8: return slices<int8_t>(c, dst, src, g, line);
    case ACSIM_U16: return slices<uint16_t>(c, dst, src, g, line);
    default: return false;
    }
  switch (c->copy.type) {
  case ACSIM_F32: return copies<float>(c, dst, src, g, line);
  case ACSIM_F16: return copies<half>(c, dst, src, g, line);
  case ACSIM_BF16: return copies<bfloat16_t>(c, dst, src, g, line);
  case ACSIM_I8: return copies<int8_t>(c, dst, src, g, line);
  case ACSIM_U8: return copies<uint8_t>(c, dst, src, g, line);
  case ACSIM_I16: return copies<int16_t>(c, dst, src, g, line);
  case ACSIM_U16: return copies<uint16_t>(c, dst, src, g, line);
  case ACSIM_I32: return copies<int32_t>(c, dst, src, g, line);
  case ACSIM_U32: return copies<uint32_t>(c, dst, src, g, line);
  case ACSIM_I64: return copies<int64_t>(c, dst, src, g, line);
  case ACSIM_U64: return copies<uint64_t>(c, dst, src, g, line);
  default: return false;
  }
}
