// Device side of TestCustom.
// Made by ascendcraft 0.1.0 from test_custom.craft for Ascend910B2; see README.md. Yours to use in any way.
#include "kernel_operator.h"

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
    if (stride == cols && pitch == cols) {
        cols *= rows;
        stride = pitch = cols;
        rows = 1; // without gaps: one block
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

// The other way round.
template <typename T>
__aicore__ inline void AcStoreRows(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &from, int64_t rows, int64_t cols,
                                   int64_t stride, int64_t pitch)
{
    if (rows <= 0 || cols <= 0) {
        return;
    }
    if (stride == cols && pitch == cols) {
        cols *= rows;
        stride = pitch = cols;
        rows = 1; // without gaps: one block
    }
    const int64_t size = sizeof(T);
    const int64_t gap = (stride - cols) * size;
    const int64_t skip = (pitch * size - (cols * size + 31) / 32 * 32) / 32;
    const int64_t most = gap >= 0 && gap <= 4294967295LL ? 4095 : 1;
    for (int64_t row = 0; row < rows; row += most) {
        const int64_t n = rows - row < most ? rows - row : most;
        AscendC::DataCopyExtParams copy{static_cast<uint16_t>(n), static_cast<uint32_t>(cols * size), static_cast<uint32_t>(most == 1 ? 0 : skip),
                                        static_cast<uint32_t>(most == 1 ? 0 : gap), 0};
        AscendC::DataCopyPad(to[row * stride], from[row * pitch], copy);
    }
}

class KernelTwoD {
public:
    __aicore__ inline KernelTwoD() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        rows = tilingData.rows;
        cols = tilingData.cols;
        w = tilingData.w;
        xGm.SetGlobalBuffer((__gm__ float *)x);
        yGm.SetGlobalBuffer((__gm__ float *)y);
        pipe->InitBuffer(bQueue, static_cast<uint8_t>(tilingData.bufferNum + 1), AcBytes(8 * AcAlignUp(w, 8), 4, 32));
    }

    __aicore__ inline void Process()
    {
        for (int64_t r0 = 0; r0 < rows; r0 += 8) {
            int64_t nr = AcMin(8, rows - r0);
            for (int64_t c = 0; w > 0 ? c < cols : c > cols; c += w) {
                int64_t cnt = AcMin(w, cols - c);
                CopyIn1(r0, c, nr, cnt);
                Compute1(nr, cnt);
                CopyOut1(r0, c, nr, cnt);
            }
        }
    }

private:
    __aicore__ inline void CopyIn1(int64_t r0, int64_t c, int64_t nr, int64_t cnt)
    {
        b = bQueue.AllocTensor<float>();
        AcLoadRows(b, xGm[r0 * cols + c], nr, cnt, cols, AcAlignUp(w, 8));
        bQueue.EnQue<AscendC::TPosition::GM, AscendC::TPosition::VECIN, float>(b);
    }

    __aicore__ inline void Compute1(int64_t nr, int64_t cnt)
    {
        b = bQueue.DeQue<AscendC::TPosition::GM, AscendC::TPosition::VECIN, float>();
        if (cnt == AcAlignUp(w, 8)) {
            AscendC::Exp(b, b, static_cast<int32_t>(nr * cnt));
        } else if (AcCeilDiv(cnt, 64) < nr && AcFloorDiv(AcAlignUp(w, 8), 8) <= 255) {
            for (int64_t acColumn0 = 0; acColumn0 < cnt; acColumn0 += 64) {
                for (int64_t acRow1 = 0; acRow1 < nr; acRow1 += 255) {
                    AscendC::Exp(b[acRow1 * AcAlignUp(w, 8) + acColumn0], b[acRow1 * AcAlignUp(w, 8) + acColumn0], static_cast<uint64_t>(AcMin(64, cnt - acColumn0)), static_cast<uint8_t>(AcMin(255, nr - acRow1)), AscendC::UnaryRepeatParams(1, 1, static_cast<uint8_t>(AcFloorDiv(AcAlignUp(w, 8), 8)), static_cast<uint8_t>(AcFloorDiv(AcAlignUp(w, 8), 8))));
                }
            }
        } else {
            for (int64_t acRow2 = 0; acRow2 < nr; acRow2++) {
                AscendC::Exp(b[acRow2 * AcAlignUp(w, 8)], b[acRow2 * AcAlignUp(w, 8)], static_cast<int32_t>(cnt));
            }
        }
        bQueue.EnQue<AscendC::TPosition::VECOUT, AscendC::TPosition::GM, float>(b);
    }

    __aicore__ inline void CopyOut1(int64_t r0, int64_t c, int64_t nr, int64_t cnt)
    {
        b = bQueue.DeQue<AscendC::TPosition::VECOUT, AscendC::TPosition::GM, float>();
        AcStoreRows(yGm[r0 * cols + c], b, nr, cnt, cols, AcAlignUp(w, 8));
        bQueue.FreeTensor(b);
    }

    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> bQueue;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    AscendC::LocalTensor<float> b;
    int64_t rows;
    int64_t cols;
    int64_t w;
};

extern "C" __global__ __aicore__ void test_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelTwoD op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    }
}
