// A2Custom: kernel, tiling code and launch.
// Made by ascendcraft 0.1.0 from a2.py for Ascend910B2; see README.md. Yours to use in any way.
#include "kernel_operator.h"
#if defined(ASCENDC_CPU_DEBUG) && !defined(ICPU_RUN_KF)
#include "tikicpulib.h"
#endif
#include <cmath>
#include <cstdint>
#include <cstdio>

__aicore__ inline int64_t AcMin(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Division toward minus infinity.
__aicore__ inline int64_t AcFloorDiv(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// Remainder with the divisor's sign.
__aicore__ inline int64_t AcFloorMod(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

__aicore__ inline int64_t AcCeilDiv(int64_t a, int64_t b)
{
    return a <= 0 ? -(-a / b) : (a - 1) / b + 1;
}

__aicore__ inline int64_t AcAlignUp(int64_t a, int64_t to)
{
    return (a > 0 ? (a + to - 1) / to : -(-a / to)) * to;
}

// Bytes of a buffer: whole blocks, at least one.
__aicore__ inline uint32_t AcBytes(int64_t elements, int64_t size, int64_t to)
{
    int64_t n = (elements * size + to - 1) / to * to;
    return static_cast<uint32_t>(n < to ? to : n);
}

// Rows that are `stride` elements apart in global memory to rows that are `pitch` apart in UB. One DataCopyPad moves up to 4095 rows
// whose gap fits 32 bits; other strides go row by row.
template <typename T>
__aicore__ inline void AcLoadRows(const AscendC::LocalTensor<T> &to, const AscendC::GlobalTensor<T> &from, int64_t rows, int64_t cols,
                                  int64_t stride, int64_t pitch)
{
    if (rows <= 0 || cols <= 0) {
        return;
    }
    const int64_t size = sizeof(T);
    const int64_t gap = (stride - cols) * size;
    const int64_t skip = (pitch * size - (cols * size + 31) / 32 * 32) / 32;
    const int64_t most = gap >= 0 && gap <= 4294967295LL ? 4095 : 1;
    AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0)};
    for (int64_t row = 0; row < rows; row += most) {
        const int64_t n = rows - row < most ? rows - row : most;
        AscendC::DataCopyExtParams copy{static_cast<uint16_t>(n), static_cast<uint32_t>(cols * size), static_cast<uint32_t>(most == 1 ? 0 : gap),
                                        static_cast<uint32_t>(most == 1 ? 0 : skip), 0};
        AscendC::DataCopyPad(to[row * pitch], from[row * stride], copy, pad);
    }
}

// A unit is 'rows' rows of one plane of the output; units are shared out evenly.
class KernelA2 {
public:
    __aicore__ inline KernelA2() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        height = tilingData.height;
        width = tilingData.width;
        out_height = tilingData.out_height;
        out_width = tilingData.out_width;
        rows = tilingData.rows;
        row_blocks = tilingData.row_blocks;
        col_blocks = tilingData.col_blocks;
        units = tilingData.units;
        in_blocks = tilingData.in_blocks;
        out_blocks = tilingData.out_blocks;
        in_rows = tilingData.in_rows;
        out_rows = tilingData.out_rows;
        part = tilingData.part;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(acSpare0Buf, AcBytes(2048, 4, 256));
        pipe->InitBuffer(xQueue, 2, AcBytes(in_rows * AcAlignUp(in_blocks * 16, 8), 4, 32));
        pipe->InitBuffer(linesBuf, AcBytes(out_rows * AcAlignUp(in_blocks * 16, 8), 4, 32));
        pipe->InitBuffer(flatBuf, AcBytes(in_blocks * out_rows * 16 + 8, 4, 32));
        pipe->InitBuffer(accQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(out_blocks * out_rows * 16, 4, 32));
        pipe->InitBuffer(at_Buf, AcBytes(out_blocks * out_rows * 16, 4, 32));
        pipe->InitBuffer(indexBuf, AcBytes(out_blocks * out_rows * 16, 4, 32));
        pipe->InitBuffer(lengthBuf, AcBytes(out_blocks * out_rows * 16, 4, 32));
        pipe->InitBuffer(beyondBuf, AcBytes(out_blocks * out_rows * 16, 4, 32)); // beyond, tap in turn
        pipe->InitBuffer(back_toBuf, AcBytes(out_blocks * out_rows * 16, 4, 32));
        pipe->InitBuffer(length32Buf, AcBytes(out_blocks * 16, 4, 32));
        pipe->InitBuffer(divisorBuf, AcBytes(out_blocks * 16, 4, 32));
        pipe->InitBuffer(acScratchBuf, AcBytes(7424, 4, 256));
    }

    __aicore__ inline void Process()
    {
        int64_t pid = static_cast<int64_t>(AscendC::GetBlockIdx());
        // rows in UB begin on 32 bytes
        int64_t in_cols = in_blocks * 16;
        int64_t out_cols = out_blocks * 16;
        // joined rows of the input, a row of the output each
        // the same rows one behind another, so that one gather picks from all of them
        int64_t first = AcMin(units, AcFloorDiv(units * pid, static_cast<int64_t>(AscendC::GetBlockNum())));
        int64_t last = AcMin(units, AcFloorDiv(units * (pid + 1), static_cast<int64_t>(AscendC::GetBlockNum())));
        Compute1(out_cols, in_cols);
        for (int64_t u = first; u < last; u++) {
            int64_t col = AcFloorMod(u, col_blocks) * out_cols;
            int64_t n_cols = AcMin(out_cols, out_width - col);
            int64_t row = AcFloorMod(AcFloorDiv(u, col_blocks), row_blocks) * rows;
            int64_t n_rows = AcMin(rows, out_height - row);
            int64_t z = AcFloorDiv(AcFloorDiv(u, col_blocks), row_blocks);
            int64_t lo = 0;
            int64_t n_lanes = width;
            Compute2(in_cols);
            int64_t slice = z;
            int64_t from_rowEnd1 = AcCeilDiv((row + 1) * height, out_height);
            for (int64_t from_row = AcFloorDiv(row * height, out_height); part > 0 ? from_row < from_rowEnd1 : from_row > from_rowEnd1; from_row += part) {
                int64_t n_in = AcMin(part, AcCeilDiv((row + 1) * height, out_height) - from_row);
                CopyIn1(slice, from_row, lo, n_in, n_lanes);
                Compute3(n_in);
                Compute4(n_in);
            }
            Compute5(n_rows, in_cols, out_cols);
            Compute6(n_rows, row, n_cols, out_cols);
            CopyOut1(n_rows, z, row, col, n_cols, out_cols);
        }
    }

private:
    __aicore__ inline void Compute1(int64_t out_cols, int64_t in_cols)
    {
        AscendC::LocalTensor<float> acScratch = acScratchBuf.Get<float>();
        AscendC::LocalTensor<int32_t> at_ = at_Buf.Get<int32_t>();
        AscendC::LocalTensor<int32_t> length = lengthBuf.Get<int32_t>();
        AscendC::LocalTensor<float> length32 = length32Buf.Get<float>();
        AscendC::LocalTensor<float> flat = flatBuf.Get<float>();
        // PyTorch's windows: result j takes elements j * width // out_width to cdiv((j + 1) *
        // width, out_width).
        AscendC::CreateVecIndex(at_, static_cast<int32_t>(0), static_cast<uint32_t>(out_blocks * out_rows * 16));
        AscendC::Muls(at_, at_, static_cast<int32_t>(width), static_cast<int32_t>(out_blocks * out_rows * 16));
        AscendC::Adds(at_, at_, static_cast<int32_t>(0), static_cast<int32_t>(out_blocks * out_rows * 16));
        AscendC::Adds(length, at_, static_cast<int32_t>(width + out_width - 1), static_cast<int32_t>(out_blocks * out_rows * 16));
        // vfloordiv_scalar
        for (int64_t acLane = 0; acLane < out_blocks * out_rows * 16; acLane += 1024) {
            int64_t acCount = AcMin(1024, out_blocks * out_rows * 16 - acLane);
            AscendC::Duplicate(acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(out_width), static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[2048], at_[acLane], static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Min(acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[2048], at_[acLane], static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Min(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(acCount));
            AscendC::Mins(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch[4096], acScratch.ReinterpretCast<int32_t>()[3072], AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(acCount));
            AscendC::Cast(acScratch[5376], acScratch.ReinterpretCast<int32_t>()[2048], AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(acCount));
            AscendC::Div(acScratch[5376], acScratch[5376], acScratch[4096], static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch[5376], acScratch[5376], 0.9999995f, static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch.ReinterpretCast<int32_t>()[1024], acScratch[5376], AscendC::RoundMode::CAST_TRUNC, static_cast<uint32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[5376], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Sub(acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[5376], static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch[5376], acScratch.ReinterpretCast<int32_t>()[2048], AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(acCount));
            AscendC::Div(acScratch[5376], acScratch[5376], acScratch[4096], static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch[5376], acScratch[5376], 0.9999995f, static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch.ReinterpretCast<int32_t>()[6400], acScratch[5376], AscendC::RoundMode::CAST_TRUNC, static_cast<uint32_t>(acCount));
            AscendC::Add(acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[6400], static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[5376], acScratch.ReinterpretCast<int32_t>()[6400], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Sub(acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[5376], static_cast<int32_t>(acCount));
            AscendC::Max(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Compare(acScratch.ReinterpretCast<uint8_t>()[20480], acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[3072], AscendC::CMPMODE::EQ, static_cast<uint32_t>(AcAlignUp(acCount, 64)));
            AscendC::Sub(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Select(acScratch[2048], acScratch.ReinterpretCast<uint8_t>()[20480], acScratch[4096], acScratch[2048], AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(acCount));
            AscendC::Adds(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[1024], static_cast<int32_t>(1), static_cast<int32_t>(acCount));
            AscendC::Select(acScratch[1024], acScratch.ReinterpretCast<uint8_t>()[20480], acScratch[4096], acScratch[1024], AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(acCount));
            AscendC::ShiftRight(acScratch.ReinterpretCast<int32_t>()[3072], at_[acLane], static_cast<int32_t>(31), static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(2), static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(1), static_cast<int32_t>(acCount));
            AscendC::ShiftRight(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(31), static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(2), static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(1), static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Maxs(acScratch.ReinterpretCast<int32_t>()[5120], acScratch.ReinterpretCast<int32_t>()[2048], static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(acCount));
            AscendC::ShiftRight(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(31), static_cast<int32_t>(acCount));
            AscendC::And(acScratch.ReinterpretCast<int16_t>()[10240], acScratch.ReinterpretCast<int16_t>()[10240], acScratch.ReinterpretCast<int16_t>()[8192], static_cast<int32_t>(acCount * 2));
            AscendC::Add(at_[acLane], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[5120], static_cast<int32_t>(acCount));
        }
        // vfloordiv_scalar
        for (int64_t acLane = 0; acLane < out_blocks * out_rows * 16; acLane += 1024) {
            int64_t acCount = AcMin(1024, out_blocks * out_rows * 16 - acLane);
            AscendC::Duplicate(acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(out_width), static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[2048], length[acLane], static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Min(acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[2048], length[acLane], static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Min(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(acCount));
            AscendC::Mins(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch[4096], acScratch.ReinterpretCast<int32_t>()[3072], AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(acCount));
            AscendC::Cast(acScratch[5376], acScratch.ReinterpretCast<int32_t>()[2048], AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(acCount));
            AscendC::Div(acScratch[5376], acScratch[5376], acScratch[4096], static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch[5376], acScratch[5376], 0.9999995f, static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch.ReinterpretCast<int32_t>()[1024], acScratch[5376], AscendC::RoundMode::CAST_TRUNC, static_cast<uint32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[5376], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Sub(acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[5376], static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch[5376], acScratch.ReinterpretCast<int32_t>()[2048], AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(acCount));
            AscendC::Div(acScratch[5376], acScratch[5376], acScratch[4096], static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch[5376], acScratch[5376], 0.9999995f, static_cast<int32_t>(acCount));
            AscendC::Cast(acScratch.ReinterpretCast<int32_t>()[6400], acScratch[5376], AscendC::RoundMode::CAST_TRUNC, static_cast<uint32_t>(acCount));
            AscendC::Add(acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[6400], static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[5376], acScratch.ReinterpretCast<int32_t>()[6400], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Sub(acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[5376], static_cast<int32_t>(acCount));
            AscendC::Max(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Compare(acScratch.ReinterpretCast<uint8_t>()[20480], acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[3072], AscendC::CMPMODE::EQ, static_cast<uint32_t>(AcAlignUp(acCount, 64)));
            AscendC::Sub(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[2048], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Select(acScratch[2048], acScratch.ReinterpretCast<uint8_t>()[20480], acScratch[4096], acScratch[2048], AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(acCount));
            AscendC::Adds(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[1024], static_cast<int32_t>(1), static_cast<int32_t>(acCount));
            AscendC::Select(acScratch[1024], acScratch.ReinterpretCast<uint8_t>()[20480], acScratch[4096], acScratch[1024], AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, static_cast<uint32_t>(acCount));
            AscendC::ShiftRight(acScratch.ReinterpretCast<int32_t>()[3072], length[acLane], static_cast<int32_t>(31), static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(2), static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch.ReinterpretCast<int32_t>()[3072], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(1), static_cast<int32_t>(acCount));
            AscendC::ShiftRight(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>(), static_cast<int32_t>(31), static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(2), static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(1), static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[3072], static_cast<int32_t>(acCount));
            AscendC::Maxs(acScratch.ReinterpretCast<int32_t>()[5120], acScratch.ReinterpretCast<int32_t>()[2048], static_cast<int32_t>(-1), static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(acCount));
            AscendC::ShiftRight(acScratch.ReinterpretCast<int32_t>()[4096], acScratch.ReinterpretCast<int32_t>()[4096], static_cast<int32_t>(31), static_cast<int32_t>(acCount));
            AscendC::And(acScratch.ReinterpretCast<int16_t>()[10240], acScratch.ReinterpretCast<int16_t>()[10240], acScratch.ReinterpretCast<int16_t>()[8192], static_cast<int32_t>(acCount * 2));
            AscendC::Add(length[acLane], acScratch.ReinterpretCast<int32_t>()[1024], acScratch.ReinterpretCast<int32_t>()[5120], static_cast<int32_t>(acCount));
        }
        // lanes without a result: empty windows at the end of the row
        AscendC::Mins(at_, at_, static_cast<int32_t>(width), static_cast<int32_t>(out_blocks * out_rows * 16));
        AscendC::Mins(length, length, static_cast<int32_t>(width), static_cast<int32_t>(out_blocks * out_rows * 16));
        AscendC::Sub(length, length, at_, static_cast<int32_t>(out_blocks * out_rows * 16));
        AscendC::Cast(length32, length, AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(out_cols));
        for (int64_t rLoop0 = 1; rLoop0 < out_rows; rLoop0++) {
            r = rLoop0;
            AscendC::Adds(at_[r * out_cols], at_, static_cast<int32_t>(r * in_cols), static_cast<int32_t>(out_cols));
            AscendC::Adds(length[r * out_cols], length, static_cast<int32_t>(0), static_cast<int32_t>(out_cols));
        }
        AscendC::Duplicate(flat, 0.0f, static_cast<int32_t>(in_blocks * out_rows * 16 + 8));
    }

    __aicore__ inline void Compute2(int64_t in_cols)
    {
        AscendC::LocalTensor<float> lines = linesBuf.Get<float>();
        // the edges of the rows keep this value
        if (in_cols == AcAlignUp(in_blocks * 16, 8)) {
            AscendC::Duplicate(lines, 0.0f, static_cast<int32_t>(out_rows * in_cols));
        } else if (AcCeilDiv(in_cols, 64) < out_rows && AcFloorDiv(AcAlignUp(in_blocks * 16, 8), 8) <= 255) {
            for (int64_t acColumn0 = 0; acColumn0 < in_cols; acColumn0 += 64) {
                for (int64_t acRow1 = 0; acRow1 < out_rows; acRow1 += 255) {
                    AscendC::Duplicate(lines[acRow1 * AcAlignUp(in_blocks * 16, 8) + acColumn0], 0.0f, static_cast<uint64_t>(AcMin(64, in_cols - acColumn0)), static_cast<uint8_t>(AcMin(255, out_rows - acRow1)), 1, static_cast<uint8_t>(AcFloorDiv(AcAlignUp(in_blocks * 16, 8), 8)));
                }
            }
        } else {
            for (int64_t acRow2 = 0; acRow2 < out_rows; acRow2++) {
                AscendC::Duplicate(lines[acRow2 * AcAlignUp(in_blocks * 16, 8)], 0.0f, static_cast<int32_t>(in_cols));
            }
        }
    }

    __aicore__ inline void CopyIn1(int64_t slice, int64_t from_row, int64_t lo, int64_t n_in, int64_t n_lanes)
    {
        x = xQueue.AllocTensor<float>();
        AcLoadRows(x, xGm[(slice * height + from_row) * width + lo], n_in, n_lanes, width, AcAlignUp(in_blocks * 16, 8));
        xQueue.EnQue(x);
    }

    __aicore__ inline void Compute3(int64_t n_in)
    {
        x = xQueue.DeQue<float>();
        // by a power of two, so exact: the sum of a window of the largest numbers stays finite
        if (width == AcAlignUp(in_blocks * 16, 8)) {
            AscendC::Muls(x, x, 9.536743e-07f, static_cast<int32_t>(n_in * width));
        } else if (AcCeilDiv(width, 64) < n_in && AcFloorDiv(AcAlignUp(in_blocks * 16, 8), 8) <= 255) {
            for (int64_t acColumn3 = 0; acColumn3 < width; acColumn3 += 64) {
                for (int64_t acRow4 = 0; acRow4 < n_in; acRow4 += 255) {
                    AscendC::Muls(x[acRow4 * AcAlignUp(in_blocks * 16, 8) + acColumn3], x[acRow4 * AcAlignUp(in_blocks * 16, 8) + acColumn3], 9.536743e-07f, static_cast<uint64_t>(AcMin(64, width - acColumn3)), static_cast<uint8_t>(AcMin(255, n_in - acRow4)), AscendC::UnaryRepeatParams(1, 1, static_cast<uint8_t>(AcFloorDiv(AcAlignUp(in_blocks * 16, 8), 8)), static_cast<uint8_t>(AcFloorDiv(AcAlignUp(in_blocks * 16, 8), 8))));
                }
            }
        } else {
            for (int64_t acRow5 = 0; acRow5 < n_in; acRow5++) {
                AscendC::Muls(x[acRow5 * AcAlignUp(in_blocks * 16, 8)], x[acRow5 * AcAlignUp(in_blocks * 16, 8)], 9.536743e-07f, static_cast<int32_t>(width));
            }
        }
    }

    __aicore__ inline void Compute4(int64_t n_in)
    {
        AscendC::LocalTensor<float> lines = linesBuf.Get<float>();
        for (int64_t h = 0; h < n_in; h++) {
            AscendC::Add(lines, lines, x[h * AcAlignUp(in_blocks * 16, 8)], static_cast<int32_t>(width));
        }
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void Compute5(int64_t n_rows, int64_t in_cols, int64_t out_cols)
    {
        AscendC::LocalTensor<float> acSpare0 = acSpare0Buf.Get<float>();
        acc = accQueue.AllocTensor<float>();
        AscendC::LocalTensor<float> flat = flatBuf.Get<float>();
        AscendC::LocalTensor<float> lines = linesBuf.Get<float>();
        AscendC::LocalTensor<int32_t> beyond = beyondBuf.Get<int32_t>();
        AscendC::LocalTensor<int32_t> length = lengthBuf.Get<int32_t>();
        AscendC::LocalTensor<int32_t> index = indexBuf.Get<int32_t>();
        AscendC::LocalTensor<int32_t> at_ = at_Buf.Get<int32_t>();
        AscendC::LocalTensor<int32_t> back_to = back_toBuf.Get<int32_t>();
        AscendC::LocalTensor<float> tap = beyondBuf.Get<float>();
        for (int64_t rLoop2 = 0; rLoop2 < n_rows; rLoop2++) {
            r = rLoop2;
            AscendC::Adds(flat.ReinterpretCast<int32_t>()[r * in_cols], lines.ReinterpretCast<int32_t>()[r * AcAlignUp(in_blocks * 16, 8)], static_cast<int32_t>(0), static_cast<int32_t>(in_cols));
        }
        int64_t n = n_rows * out_cols;
        AscendC::Duplicate(acc, 0.0f, static_cast<int32_t>(out_blocks * out_rows * 16));
        // a tap along the width: neighbours lie in one block, so they are picked by index
        int64_t iEnd3 = AcCeilDiv(width, out_width) + 1;
        for (int64_t i = 0; i < iEnd3; i++) {
            // behind a window's end: lane 'width', which holds 0
            AscendC::Adds(beyond, length, static_cast<int32_t>(-(i + 1)), static_cast<int32_t>(n));
            AscendC::Mins(beyond, beyond, static_cast<int32_t>(0), static_cast<int32_t>(n));
            AscendC::Maxs(beyond, beyond, static_cast<int32_t>(-1), static_cast<int32_t>(n));
            AscendC::Adds(index, at_, static_cast<int32_t>(i), static_cast<int32_t>(n));
            AscendC::Adds(back_to, index, static_cast<int32_t>(-width), static_cast<int32_t>(n));
            AscendC::Mul(back_to, back_to, beyond, static_cast<int32_t>(n));
            AscendC::Add(index, index, back_to, static_cast<int32_t>(n));
            for (int64_t acPiece6 = 0; acPiece6 < n; acPiece6 += 2048) {
                int64_t acCount7 = AcMin(2048, n - acPiece6);
                AscendC::Muls(acSpare0.ReinterpretCast<int32_t>(), index[acPiece6], static_cast<int32_t>(4), static_cast<int32_t>(acCount7));
                AscendC::Gather(tap.ReinterpretCast<int32_t>()[acPiece6], flat.ReinterpretCast<int32_t>(), acSpare0.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0), static_cast<uint32_t>(acCount7));
            }
            AscendC::Add(acc, acc, tap, static_cast<int32_t>(n));
        }
    }

    __aicore__ inline void Compute6(int64_t n_rows, int64_t row, int64_t n_cols, int64_t out_cols)
    {
        AscendC::LocalTensor<float> divisor = divisorBuf.Get<float>();
        AscendC::LocalTensor<float> length32 = length32Buf.Get<float>();
        for (int64_t rLoop4 = 0; rLoop4 < n_rows; rLoop4++) {
            r = rLoop4;
            AscendC::Muls(divisor, length32, static_cast<float>(AcCeilDiv((row + 1) * height, out_height) - AcFloorDiv(row * height, out_height)) * 9.536743e-07f, static_cast<int32_t>(n_cols));
            AscendC::Div(acc[r * out_cols], acc[r * out_cols], divisor, static_cast<int32_t>(n_cols));
        }
        accQueue.EnQue(acc);
    }

    __aicore__ inline void CopyOut1(int64_t n_rows, int64_t z, int64_t row, int64_t col, int64_t n_cols, int64_t out_cols)
    {
        acc = accQueue.DeQue<float>();
        for (int64_t rLoop5 = 0; rLoop5 < n_rows; rLoop5++) {
            r = rLoop5;
            if (n_cols > 0) {
                AscendC::DataCopyExtParams accCopy{1, static_cast<uint32_t>(n_cols * sizeof(float)), 0, 0, 0};
                AscendC::DataCopyPad(yGm[(z * out_height + row + r) * out_width + col], acc[r * out_cols], accCopy);
            }
        }
        accQueue.FreeTensor(acc);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> linesBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> flatBuf;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> accQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> at_Buf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> indexBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> lengthBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> beyondBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> back_toBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> length32Buf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> divisorBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> acSpare0Buf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> acScratchBuf;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    AscendC::LocalTensor<float> x;
    AscendC::LocalTensor<float> acc;
    int64_t height;
    int64_t width;
    int64_t out_height;
    int64_t out_width;
    int64_t rows;
    int64_t row_blocks;
    int64_t col_blocks;
    int64_t units;
    int64_t in_blocks;
    int64_t out_blocks;
    int64_t in_rows;
    int64_t out_rows;
    int64_t part;
    int64_t r;
};

// What the tiling code decides and the kernel reads.
struct A2CustomPlan {
    int64_t height;
    int64_t width;
    int64_t out_height;
    int64_t out_width;
    int64_t rows;
    int64_t row_blocks;
    int64_t col_blocks;
    int64_t units;
    int64_t in_blocks;
    int64_t out_blocks;
    int64_t in_rows;
    int64_t out_rows;
    int64_t part;
    int64_t bufferNum;
    int64_t tilingKey; // which kernel with which constants; 0: nothing to do
    int64_t blockDim;
    int64_t workspaceBytes;
};

namespace {
// A tensor's sizes.
struct ShapeView {
    const int64_t *dims;
    int32_t rank;
};

// Why the shape at hand is refused; empty: it is not.
thread_local char refusal[256];

inline void Refuse(const char *why)
{
    if (refusal[0] == 0) {
        snprintf(refusal, sizeof(refusal), "%s", why);
    }
}

// A 64-bit integer that refuses the shape instead of wrapping round.
struct Checked {
    int64_t v;
    Checked(int64_t x = 0) : v(x) {}
    friend Checked operator+(Checked a, Checked b)
    {
        int64_t r;
        if (__builtin_add_overflow(a.v, b.v, &r)) {
            Refuse("a size does not fit 64 bits");
        }
        return r;
    }
    friend Checked operator-(Checked a, Checked b)
    {
        int64_t r;
        if (__builtin_sub_overflow(a.v, b.v, &r)) {
            Refuse("a size does not fit 64 bits");
        }
        return r;
    }
    friend Checked operator*(Checked a, Checked b)
    {
        int64_t r;
        if (__builtin_mul_overflow(a.v, b.v, &r)) {
            Refuse("a size does not fit 64 bits");
        }
        return r;
    }
    friend Checked operator-(Checked a) { return Checked(0) - a; }
    friend bool operator==(Checked a, Checked b) { return a.v == b.v; }
    friend bool operator!=(Checked a, Checked b) { return a.v != b.v; }
    friend bool operator<(Checked a, Checked b) { return a.v < b.v; }
    friend bool operator<=(Checked a, Checked b) { return a.v <= b.v; }
    friend bool operator>(Checked a, Checked b) { return a.v > b.v; }
    friend bool operator>=(Checked a, Checked b) { return a.v >= b.v; }
};

inline Checked FloorDiv(Checked a, Checked b)
{
    if (b.v == 0 || (b.v == -1 && a.v == INT64_MIN)) {
        Refuse("division by zero in the tiling code");
        return 0;
    }
    int64_t q = a.v / b.v;
    return a.v % b.v != 0 && (a.v < 0) != (b.v < 0) ? q - 1 : q;
}
inline Checked FloorMod(Checked a, Checked b) { return a - FloorDiv(a, b) * b; }
inline Checked CeilDiv(Checked a, Checked b) { return -FloorDiv(-a, b); }
inline Checked AlignUp(Checked a, Checked to) { return CeilDiv(a, to) * to; }
inline Checked AlignDown(Checked a, Checked to) { return FloorDiv(a, to) * to; }
inline Checked Min(Checked a, Checked b) { return a < b ? a : b; }
inline Checked Max(Checked a, Checked b) { return a < b ? b : a; }
inline double MinF(double a, double b) { return a < b ? a : b; }
inline double MaxF(double a, double b) { return a < b ? b : a; }
inline double ToDouble(Checked a) { return static_cast<double>(a.v); }
inline Checked Truncate(double a)
{
    if (!(a > -9.2e18 && a < 9.2e18)) {
        Refuse("a number does not fit 64 bits");
        return 0;
    }
    return static_cast<int64_t>(a);
}
inline Checked Power(Checked a, Checked b)
{
    Checked r = 1;
    for (int64_t i = 0; i < b.v && refusal[0] == 0 && (r.v > 1 || r.v < -1 || i < 2); i++) {
        r = r * a;
    }
    return b.v > 1 && a.v == -1 ? (b.v % 2 != 0 ? Checked(-1) : Checked(1)) : r;
}
inline double PowerF(double a, double b) { return pow(a, b); }

// Size i of a tensor; negative i count from the end.
inline Checked Dim(const ShapeView &s, Checked i)
{
    int64_t k = i.v < 0 ? i.v + s.rank : i.v;
    if (k < 0 || k >= s.rank) {
        if (refusal[0] == 0) {
            snprintf(refusal, sizeof(refusal), "dimension %lld does not exist in a tensor of rank %d", static_cast<long long>(i.v),
                          static_cast<int>(s.rank));
        }
        return 0;
    }
    return s.dims[k];
}
// Product of sizes [from, to), by Python's rules for slices.
inline Checked Product(const ShapeView &s, Checked from, Checked to)
{
    int64_t a = from.v < 0 ? from.v + s.rank : from.v, b = to.v < 0 ? to.v + s.rank : to.v;
    Checked r = 1;
    bool zero = false;
    for (int64_t i = a < 0 ? 0 : a; i < b && i < s.rank; i++) {
        zero = zero || s.dims[i] == 0;
    }
    for (int64_t i = a < 0 ? 0 : a; i < b && i < s.rank && !zero; i++) {
        r = r * s.dims[i];
    }
    return zero ? Checked(0) : r;
}
inline bool SameShape(const ShapeView &a, const ShapeView &b)
{
    bool same = a.rank == b.rank;
    for (int32_t i = 0; same && i < a.rank; i++) {
        same = a.dims[i] == b.dims[i];
    }
    return same;
}
// Blocks of a launch: all of those that the program asks for, or none.
inline int64_t Blocks(Checked wanted, int64_t most)
{
    if (wanted > most && refusal[0] == 0) {
        snprintf(refusal, sizeof(refusal), "%lld blocks are wanted, a launch has %lld at most here", static_cast<long long>(wanted.v),
                 static_cast<long long>(most));
    }
    return wanted.v < most ? wanted.v : most;
}
// Bytes of UB that a buffer takes: whole blocks, at least one.
inline Checked BufferBytes(Checked elements, int64_t size, int64_t to) { return Max(AlignUp(elements * size, to), to); }

// Shapes of the outputs from those of the inputs.
inline void OutputShapes(const ShapeView *shapes, int64_t (*dims)[16], ShapeView *outputs)
{
    (void)dims;
    dims[0][0] = (Dim(shapes[0], 0)).v; // out
    dims[0][1] = (Dim(shapes[0], 1)).v; // out
    dims[0][2] = (Checked(4)).v; // out
    dims[0][3] = (Checked(2)).v; // out
    outputs[0] = ShapeView{dims[0], 4};
}

inline const char *Refusal() { return refusal[0] != 0 ? refusal : nullptr; }

// Plans one call: partition of the cores, tiles, tiling key. Shapes are those of the inputs, then of the outputs. Returns nullptr,
// or why this shape is refused.
const char *ComputeTiling(const ShapeView *shapes, int64_t cores, int64_t ub, A2CustomPlan &plan)
{
    refusal[0] = 0;
    plan = A2CustomPlan();
    plan.blockDim = 1;
    plan.bufferNum = 1;
    cores = cores < 1 ? 1 : cores;
    (void)ub;
    if (!(shapes[0].rank == 4)) {
        Refuse("x does not have rank 4");
        return Refusal();
    }
    if (!(Checked(1) <= Dim(shapes[0], 1))) {
        Refuse("1 <= s1 does not hold (adaptive_avg_pool2d: sizes beside the batch must not be empty, line 5)");
        return Refusal();
    }
    if (!(Checked(1) <= Dim(shapes[0], 2))) {
        Refuse("1 <= s2 does not hold (adaptive_avg_pool2d: sizes beside the batch must not be empty, line 5)");
        return Refusal();
    }
    if (!(Checked(1) <= Dim(shapes[0], 3))) {
        Refuse("1 <= s3 does not hold (adaptive_avg_pool2d: sizes beside the batch must not be empty, line 5)");
        return Refusal();
    }
    // The outputs have the shapes that the inputs give them.
    {
        int64_t dims[1][16];
        ShapeView expected[1];
        OutputShapes(shapes, dims, expected);
        if (refusal[0] == 0 && !SameShape(shapes[1], expected[0])) {
            Refuse("the shape of out does not follow from the inputs");
        }
        if (refusal[0] != 0) {
            return Refusal();
        }
    }
    if (1 > Dim(shapes[0], 1)) {
        Refuse("traced for 1 <= x.shape[1] (adaptive_avg_pool2d: sizes beside the batch must not be empty)");
        return Refusal();
    } else {
        if (1 > Dim(shapes[0], 2)) {
            Refuse("traced for 1 <= x.shape[2] (adaptive_avg_pool2d: sizes beside the batch must not be empty)");
            return Refusal();
        } else {
            if (1 > Dim(shapes[0], 3)) {
                Refuse("traced for 1 <= x.shape[3] (adaptive_avg_pool2d: sizes beside the batch must not be empty)");
                return Refusal();
            } else {
                Checked planes = Dim(shapes[0], 0) * Dim(shapes[0], 1);
                Checked depth = 1;
                Checked out_depth = depth;
                Checked height = Dim(shapes[0], 2);
                Checked out_height = 4;
                Checked width_2 = Dim(shapes[0], 3);
                Checked out_width = 2;
                if (Max(width_2, out_width) > 2032) {
                    Refuse("adaptive pooling of rows that do not fit UB");
                    return Refusal();
                } else {
                    // Core partitioning: a unit is some rows of one plane of the output; the cores share the units
                    // evenly. With few planes a unit has fewer rows than UB allows, so that every core gets one.
                    if (Max(width_2, out_width) <= 64) {
                        // Tiling: rows of 80 lanes; 256 of the input beside 1 of the output, whose windows are
                        // taken in parts.
                        Checked rows = Max(1, Min(1, Min(out_height, CeilDiv(planes * out_depth * out_height, Checked(cores)))));
                        Checked row_blocks = CeilDiv(out_height, rows);
                        Checked col_blocks = CeilDiv(out_width, 64);
                        Checked n_units = planes * out_depth * row_blocks * col_blocks;
                        Checked ask1_blocks = Max(1, Min(Checked(cores), n_units));
                        Checked ask1_height = height;
                        Checked ask1_width = width_2;
                        Checked ask1_out_height = out_height;
                        Checked ask1_out_width = out_width;
                        Checked ask1_rows = rows;
                        Checked ask1_row_blocks = Max(1, row_blocks);
                        Checked ask1_col_blocks = Max(1, col_blocks);
                        Checked ask1_units = n_units;
                        Checked ask1_in_blocks = 5;
                        Checked ask1_out_blocks = 4;
                        Checked ask1_out_rows = 1;
                        Checked ask1_part = 256;
                        {
                            const Checked ask1_blockEnd = Min(ask1_blocks, 65535), ask1_blockStep = 1;
                            for (Checked ask1_block = 0; refusal[0] == 0 && (ask1_blockStep > 0 ? ask1_block < ask1_blockEnd : ask1_block > ask1_blockEnd); ask1_block = ask1_block + ask1_blockStep) {
                                Checked ask1_v15 = ask1_block;
                                Checked ask1_v16 = ask1_in_blocks * 16;
                                Checked ask1_v17 = ask1_out_blocks * 16;
                                Checked ask1_v18 = Min(ask1_units, FloorDiv(ask1_units * ask1_v15, ask1_blocks));
                                Checked ask1_v19 = Min(ask1_units, FloorDiv(ask1_units * (ask1_v15 + 1), ask1_blocks));
                                {
                                    const Checked ask1_v21End = ask1_v19, ask1_v21Step = 1;
                                    for (Checked ask1_v21 = ask1_v18; refusal[0] == 0 && (ask1_v21Step > 0 ? ask1_v21 < ask1_v21End : ask1_v21 > ask1_v21End); ask1_v21 = ask1_v21 + ask1_v21Step) {
                                        Checked ask1_v22 = FloorMod(ask1_v21, ask1_col_blocks) * ask1_v17;
                                        Checked ask1_v23 = Min(ask1_v17, ask1_out_width - ask1_v22);
                                        Checked ask1_v24 = FloorMod(FloorDiv(ask1_v21, ask1_col_blocks), ask1_row_blocks) * ask1_rows;
                                        Checked ask1_v25 = Min(ask1_rows, ask1_out_height - ask1_v24);
                                        Checked ask1_v26 = FloorDiv(FloorDiv(ask1_v21, ask1_col_blocks), ask1_row_blocks);
                                        Checked ask1_v27 = 0;
                                        Checked ask1_v29 = ask1_width;
                                        Checked ask1_v30 = ask1_v26;
                                        {
                                            const Checked ask1_v31End = CeilDiv((ask1_v24 + 1) * ask1_height, ask1_out_height), ask1_v31Step = ask1_part;
                                            for (Checked ask1_v31 = FloorDiv(ask1_v24 * ask1_height, ask1_out_height); refusal[0] == 0 && (ask1_v31Step > 0 ? ask1_v31 < ask1_v31End : ask1_v31 > ask1_v31End); ask1_v31 = ask1_v31 + ask1_v31Step) {
                                                Checked ask1_v32 = Min(ask1_part, CeilDiv((ask1_v24 + 1) * ask1_height, ask1_out_height) - ask1_v31);
                                                if (ask1_width > ask1_v16) {
                                                    if (refusal[0] == 0) {
                                                        snprintf(refusal, sizeof(refusal), "line 63: dimension 1 of the tile is width, that of 'x' is in_blocks * 16: here %lld against %lld",
                                                                      static_cast<long long>(Checked(ask1_width).v),
                                                                      static_cast<long long>(Checked(ask1_v16).v));
                                                    }
                                                    return Refusal();
                                                }
                                                if (ask1_v32 > 0 && ask1_v29 > 0) {
                                                    if ((ask1_v30 * ask1_height + ask1_v31) * ask1_width + ask1_v27 + Min(0, ask1_width * (ask1_v32 - 1)) < 0 || (ask1_v30 * ask1_height + ask1_v31) * ask1_width + ask1_v27 + Max(0, ask1_width * (ask1_v32 - 1)) + ask1_v29 - 1 >= Product(shapes[0], 0, shapes[0].rank)) {
                                                        if (refusal[0] == 0) {
                                                            snprintf(refusal, sizeof(refusal), "line 63: block %lld reads element %lld of 'x', which has %lld",
                                                                          static_cast<long long>(Checked(ask1_block).v),
                                                                          static_cast<long long>(Checked((ask1_v30 * ask1_height + ask1_v31) * ask1_width + ask1_v27 + Min(0, ask1_width * (ask1_v32 - 1)) < 0 ? Checked((ask1_v30 * ask1_height + ask1_v31) * ask1_width + ask1_v27 + Min(0, ask1_width * (ask1_v32 - 1))) : Checked((ask1_v30 * ask1_height + ask1_v31) * ask1_width + ask1_v27 + Max(0, ask1_width * (ask1_v32 - 1)) + ask1_v29 - 1)).v),
                                                                          static_cast<long long>(Checked(Product(shapes[0], 0, shapes[0].rank)).v));
                                                        }
                                                        return Refusal();
                                                    }
                                                }
                                            }
                                        }
                                        {
                                            const Checked ask1_v20End = ask1_v25, ask1_v20Step = 1;
                                            for (Checked ask1_v20 = 0; refusal[0] == 0 && (ask1_v20Step > 0 ? ask1_v20 < ask1_v20End : ask1_v20 > ask1_v20End); ask1_v20 = ask1_v20 + ask1_v20Step) {
                                                if (ask1_v23 > 0) {
                                                    if ((ask1_v26 * ask1_out_height + ask1_v24 + ask1_v20) * ask1_out_width + ask1_v22 < 0 || (ask1_v26 * ask1_out_height + ask1_v24 + ask1_v20) * ask1_out_width + ask1_v22 + ask1_v23 - 1 >= Product(shapes[1], 0, shapes[1].rank)) {
                                                        if (refusal[0] == 0) {
                                                            snprintf(refusal, sizeof(refusal), "line 100: block %lld writes element %lld of 'out', which has %lld",
                                                                          static_cast<long long>(Checked(ask1_block).v),
                                                                          static_cast<long long>(Checked((ask1_v26 * ask1_out_height + ask1_v24 + ask1_v20) * ask1_out_width + ask1_v22 < 0 ? Checked((ask1_v26 * ask1_out_height + ask1_v24 + ask1_v20) * ask1_out_width + ask1_v22) : Checked((ask1_v26 * ask1_out_height + ask1_v24 + ask1_v20) * ask1_out_width + ask1_v22 + ask1_v23 - 1)).v),
                                                                          static_cast<long long>(Checked(Product(shapes[1], 0, shapes[1].rank)).v));
                                                        }
                                                        return Refusal();
                                                    }
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                        plan.tilingKey = 1; // a2_kernel
                        plan.blockDim = Blocks(Max(1, Min(Checked(cores), n_units)), 65535);
                        plan.height = Checked(height).v;
                        plan.width = Checked(width_2).v;
                        plan.out_height = Checked(out_height).v;
                        plan.out_width = Checked(out_width).v;
                        plan.rows = Checked(rows).v;
                        plan.row_blocks = Checked(Max(1, row_blocks)).v;
                        plan.col_blocks = Checked(Max(1, col_blocks)).v;
                        plan.units = Checked(n_units).v;
                        plan.in_blocks = Checked(5).v;
                        plan.out_blocks = Checked(4).v;
                        plan.in_rows = Checked(256).v;
                        plan.out_rows = Checked(1).v;
                        plan.part = Checked(256).v;
                        Checked fixed = 0, doubled = 0; // bytes of UB; of those that may come twice
                        fixed = fixed + BufferBytes(Checked(plan.in_rows) * AlignUp(Checked(plan.in_blocks) * 16, 8), 4, 32) * 2; // xQueue
                        fixed = fixed + BufferBytes(Checked(plan.out_rows) * AlignUp(Checked(plan.in_blocks) * 16, 8), 4, 32); // linesBuf
                        fixed = fixed + BufferBytes(Checked(plan.in_blocks) * Checked(plan.out_rows) * 16 + 8, 4, 32); // flatBuf
                        doubled = doubled + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // accQueue
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // at_Buf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // indexBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // lengthBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // beyondBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // back_toBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * 16, 4, 32); // length32Buf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * 16, 4, 32); // divisorBuf
                        fixed = fixed + BufferBytes(2048, 4, 256); // acSpare0Buf
                        fixed = fixed + BufferBytes(7424, 4, 256); // acScratchBuf
                        // Select writes to the last 8 KB of UB.
                        plan.bufferNum = fixed + doubled * 2 <= Checked(ub) - 8192 ? 2 : 1;
                        if (fixed + doubled > Checked(ub) - 8192) {
                            if (refusal[0] == 0) {
                                snprintf(refusal, sizeof(refusal), "a2_kernel needs %lld bytes of UB, there are %lld: take a smaller tile",
                                              static_cast<long long>((fixed + doubled).v), static_cast<long long>((Checked(ub) - 8192).v));
                            }
                        }
                        return Refusal();
                    } else {
                        // Tiling: rows of 2048 lanes; 3 of the input beside 1 of the output, whose windows are
                        // taken in parts.
                        Checked rows = Max(1, Min(1, Min(out_height, CeilDiv(planes * out_depth * out_height, Checked(cores)))));
                        Checked row_blocks = CeilDiv(out_height, rows);
                        Checked col_blocks = CeilDiv(out_width, 2032);
                        Checked n_units = planes * out_depth * row_blocks * col_blocks;
                        Checked ask2_blocks = Max(1, Min(Checked(cores), n_units));
                        Checked ask2_height = height;
                        Checked ask2_width = width_2;
                        Checked ask2_out_height = out_height;
                        Checked ask2_out_width = out_width;
                        Checked ask2_rows = rows;
                        Checked ask2_row_blocks = Max(1, row_blocks);
                        Checked ask2_col_blocks = Max(1, col_blocks);
                        Checked ask2_units = n_units;
                        Checked ask2_in_blocks = 128;
                        Checked ask2_out_blocks = 127;
                        Checked ask2_out_rows = 1;
                        Checked ask2_part = 3;
                        {
                            const Checked ask2_blockEnd = Min(ask2_blocks, 65535), ask2_blockStep = 1;
                            for (Checked ask2_block = 0; refusal[0] == 0 && (ask2_blockStep > 0 ? ask2_block < ask2_blockEnd : ask2_block > ask2_blockEnd); ask2_block = ask2_block + ask2_blockStep) {
                                Checked ask2_v15 = ask2_block;
                                Checked ask2_v16 = ask2_in_blocks * 16;
                                Checked ask2_v17 = ask2_out_blocks * 16;
                                Checked ask2_v18 = Min(ask2_units, FloorDiv(ask2_units * ask2_v15, ask2_blocks));
                                Checked ask2_v19 = Min(ask2_units, FloorDiv(ask2_units * (ask2_v15 + 1), ask2_blocks));
                                {
                                    const Checked ask2_v21End = ask2_v19, ask2_v21Step = 1;
                                    for (Checked ask2_v21 = ask2_v18; refusal[0] == 0 && (ask2_v21Step > 0 ? ask2_v21 < ask2_v21End : ask2_v21 > ask2_v21End); ask2_v21 = ask2_v21 + ask2_v21Step) {
                                        Checked ask2_v22 = FloorMod(ask2_v21, ask2_col_blocks) * ask2_v17;
                                        Checked ask2_v23 = Min(ask2_v17, ask2_out_width - ask2_v22);
                                        Checked ask2_v24 = FloorMod(FloorDiv(ask2_v21, ask2_col_blocks), ask2_row_blocks) * ask2_rows;
                                        Checked ask2_v25 = Min(ask2_rows, ask2_out_height - ask2_v24);
                                        Checked ask2_v26 = FloorDiv(FloorDiv(ask2_v21, ask2_col_blocks), ask2_row_blocks);
                                        Checked ask2_v27 = 0;
                                        Checked ask2_v29 = ask2_width;
                                        Checked ask2_v30 = ask2_v26;
                                        {
                                            const Checked ask2_v31End = CeilDiv((ask2_v24 + 1) * ask2_height, ask2_out_height), ask2_v31Step = ask2_part;
                                            for (Checked ask2_v31 = FloorDiv(ask2_v24 * ask2_height, ask2_out_height); refusal[0] == 0 && (ask2_v31Step > 0 ? ask2_v31 < ask2_v31End : ask2_v31 > ask2_v31End); ask2_v31 = ask2_v31 + ask2_v31Step) {
                                                Checked ask2_v32 = Min(ask2_part, CeilDiv((ask2_v24 + 1) * ask2_height, ask2_out_height) - ask2_v31);
                                                if (ask2_width > ask2_v16) {
                                                    if (refusal[0] == 0) {
                                                        snprintf(refusal, sizeof(refusal), "line 63: dimension 1 of the tile is width, that of 'x' is in_blocks * 16: here %lld against %lld",
                                                                      static_cast<long long>(Checked(ask2_width).v),
                                                                      static_cast<long long>(Checked(ask2_v16).v));
                                                    }
                                                    return Refusal();
                                                }
                                                if (ask2_v32 > 0 && ask2_v29 > 0) {
                                                    if ((ask2_v30 * ask2_height + ask2_v31) * ask2_width + ask2_v27 + Min(0, ask2_width * (ask2_v32 - 1)) < 0 || (ask2_v30 * ask2_height + ask2_v31) * ask2_width + ask2_v27 + Max(0, ask2_width * (ask2_v32 - 1)) + ask2_v29 - 1 >= Product(shapes[0], 0, shapes[0].rank)) {
                                                        if (refusal[0] == 0) {
                                                            snprintf(refusal, sizeof(refusal), "line 63: block %lld reads element %lld of 'x', which has %lld",
                                                                          static_cast<long long>(Checked(ask2_block).v),
                                                                          static_cast<long long>(Checked((ask2_v30 * ask2_height + ask2_v31) * ask2_width + ask2_v27 + Min(0, ask2_width * (ask2_v32 - 1)) < 0 ? Checked((ask2_v30 * ask2_height + ask2_v31) * ask2_width + ask2_v27 + Min(0, ask2_width * (ask2_v32 - 1))) : Checked((ask2_v30 * ask2_height + ask2_v31) * ask2_width + ask2_v27 + Max(0, ask2_width * (ask2_v32 - 1)) + ask2_v29 - 1)).v),
                                                                          static_cast<long long>(Checked(Product(shapes[0], 0, shapes[0].rank)).v));
                                                        }
                                                        return Refusal();
                                                    }
                                                }
                                            }
                                        }
                                        {
                                            const Checked ask2_v20End = ask2_v25, ask2_v20Step = 1;
                                            for (Checked ask2_v20 = 0; refusal[0] == 0 && (ask2_v20Step > 0 ? ask2_v20 < ask2_v20End : ask2_v20 > ask2_v20End); ask2_v20 = ask2_v20 + ask2_v20Step) {
                                                if (ask2_v23 > 0) {
                                                    if ((ask2_v26 * ask2_out_height + ask2_v24 + ask2_v20) * ask2_out_width + ask2_v22 < 0 || (ask2_v26 * ask2_out_height + ask2_v24 + ask2_v20) * ask2_out_width + ask2_v22 + ask2_v23 - 1 >= Product(shapes[1], 0, shapes[1].rank)) {
                                                        if (refusal[0] == 0) {
                                                            snprintf(refusal, sizeof(refusal), "line 100: block %lld writes element %lld of 'out', which has %lld",
                                                                          static_cast<long long>(Checked(ask2_block).v),
                                                                          static_cast<long long>(Checked((ask2_v26 * ask2_out_height + ask2_v24 + ask2_v20) * ask2_out_width + ask2_v22 < 0 ? Checked((ask2_v26 * ask2_out_height + ask2_v24 + ask2_v20) * ask2_out_width + ask2_v22) : Checked((ask2_v26 * ask2_out_height + ask2_v24 + ask2_v20) * ask2_out_width + ask2_v22 + ask2_v23 - 1)).v),
                                                                          static_cast<long long>(Checked(Product(shapes[1], 0, shapes[1].rank)).v));
                                                        }
                                                        return Refusal();
                                                    }
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                        plan.tilingKey = 2; // a2_kernel
                        plan.blockDim = Blocks(Max(1, Min(Checked(cores), n_units)), 65535);
                        plan.height = Checked(height).v;
                        plan.width = Checked(width_2).v;
                        plan.out_height = Checked(out_height).v;
                        plan.out_width = Checked(out_width).v;
                        plan.rows = Checked(rows).v;
                        plan.row_blocks = Checked(Max(1, row_blocks)).v;
                        plan.col_blocks = Checked(Max(1, col_blocks)).v;
                        plan.units = Checked(n_units).v;
                        plan.in_blocks = Checked(128).v;
                        plan.out_blocks = Checked(127).v;
                        plan.in_rows = Checked(3).v;
                        plan.out_rows = Checked(1).v;
                        plan.part = Checked(3).v;
                        Checked fixed = 0, doubled = 0; // bytes of UB; of those that may come twice
                        fixed = fixed + BufferBytes(Checked(plan.in_rows) * AlignUp(Checked(plan.in_blocks) * 16, 8), 4, 32) * 2; // xQueue
                        fixed = fixed + BufferBytes(Checked(plan.out_rows) * AlignUp(Checked(plan.in_blocks) * 16, 8), 4, 32); // linesBuf
                        fixed = fixed + BufferBytes(Checked(plan.in_blocks) * Checked(plan.out_rows) * 16 + 8, 4, 32); // flatBuf
                        doubled = doubled + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // accQueue
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // at_Buf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // indexBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // lengthBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // beyondBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * Checked(plan.out_rows) * 16, 4, 32); // back_toBuf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * 16, 4, 32); // length32Buf
                        fixed = fixed + BufferBytes(Checked(plan.out_blocks) * 16, 4, 32); // divisorBuf
                        fixed = fixed + BufferBytes(2048, 4, 256); // acSpare0Buf
                        fixed = fixed + BufferBytes(7424, 4, 256); // acScratchBuf
                        // Select writes to the last 8 KB of UB.
                        plan.bufferNum = fixed + doubled * 2 <= Checked(ub) - 8192 ? 2 : 1;
                        if (fixed + doubled > Checked(ub) - 8192) {
                            if (refusal[0] == 0) {
                                snprintf(refusal, sizeof(refusal), "a2_kernel needs %lld bytes of UB, there are %lld: take a smaller tile",
                                              static_cast<long long>((fixed + doubled).v), static_cast<long long>((Checked(ub) - 8192).v));
                            }
                        }
                        return Refusal();
                    }
                }
            }
        }
    }
}
} // namespace

extern "C" __global__ __aicore__ void a2_custom(GM_ADDR x, GM_ADDR out, GM_ADDR workspace, A2CustomPlan plan)
{
    #if !defined(ASCENDC_CPU_DEBUG) && defined(KERNEL_TASK_TYPE_DEFAULT)
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    #endif
    AscendC::TPipe pipe;
    if (plan.tilingKey == 1) {
        KernelA2 op;
        op.Init(x, out, plan, &pipe);
        op.Process();
    } else if (plan.tilingKey == 2) {
        KernelA2 op;
        op.Init(x, out, plan, &pipe);
        op.Process();
    }
}

static int32_t MakePlan(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs, A2CustomPlan &plan, char *msg, uint32_t len)
{
    ShapeView views[2];
    for (int32_t i = 0; i < 2; i++) {
        views[i] = ShapeView{shapes[i], ranks[i]};
    }
    (void)attrs;
    const char *why = ComputeTiling(views, static_cast<int64_t>(cores), static_cast<int64_t>(ub), plan);
    if (why != nullptr) {
        snprintf(msg, len, "a2_custom: %s", why);
        return 1;
    }
    return 0;
}

// Bytes of workspace that a call needs. Arrays: inputs, then outputs.
extern "C" int32_t a2_custom_workspace(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs, int64_t *bytes,
    char *msg, uint32_t len)
{
    A2CustomPlan plan;
    *bytes = 0;
    if (MakePlan(cores, ub, shapes, ranks, attrs, plan, msg, len) != 0) {
        return 1;
    }
    *bytes = plan.workspaceBytes;
    return 0;
}

// Plans and launches one call; returns 0, or 1 with the reason in msg.
extern "C" int32_t a2_custom_run(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs, void *const *data,
    void *workspace, void *stream, char *msg, uint32_t len)
{
    A2CustomPlan plan;
    if (MakePlan(cores, ub, shapes, ranks, attrs, plan, msg, len) != 0) {
        return 1;
    }
    if (plan.tilingKey == 0) {
        return 0; // nothing to do for this shape
    }
    uint8_t *x = static_cast<uint8_t *>(data[0]);
    uint8_t *out = static_cast<uint8_t *>(data[1]);
    uint8_t *scratch = static_cast<uint8_t *>(workspace);
    #ifdef ASCENDC_CPU_DEBUG
    (void)stream;
    #endif
    #ifdef ASCENDC_CPU_DEBUG
    ICPU_RUN_KF(a2_custom, static_cast<uint32_t>(plan.blockDim), x, out, scratch, plan);
    #else
    a2_custom<<<static_cast<uint32_t>(plan.blockDim), nullptr, stream>>>(x, out, scratch, plan);
    #endif
    return 0;
}
