// Device side of TestCustom.
// Made by ascendcraft 0.1.0 from test_custom.craft for Ascend910B2; see README.md. Yours to use in any way.
#include "kernel_operator.h"

__aicore__ inline int64_t AcMin(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Bytes of a buffer: whole blocks, at least one.
__aicore__ inline uint32_t AcBytes(int64_t elements, int64_t size, int64_t to)
{
    int64_t n = (elements * size + to - 1) / to * to;
    return static_cast<uint32_t>(n < to ? to : n);
}

// column sums: the accumulator is set before the loop, updated in it and stored after it; a loop may run zero times
class KernelColsum {
public:
    __aicore__ inline KernelColsum() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR w_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        rows = tilingData.rows;
        cols = tilingData.cols;
        tile = tilingData.tile;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        wGm.SetGlobalBuffer((__gm__ float *)w_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(xQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 512));
        pipe->InitBuffer(acGap0, AcBytes(256, 1, 256)); // a gap: what is read side by side lies in different bank groups
        pipe->InitBuffer(wQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 512));
        pipe->InitBuffer(accQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 512));
    }

    __aicore__ inline void Process()
    {
        int64_t cStep0 = static_cast<int64_t>(AscendC::GetBlockNum()) * tile;
        for (int64_t c = static_cast<int64_t>(AscendC::GetBlockIdx()) * tile; cStep0 > 0 ? c < cols : c > cols; c += cStep0) {
            int64_t n = AcMin(tile, cols - c);
            CopyIn1(c, n);
            Compute1(n);
            w = wQueue.DeQue<float>();
            for (int64_t r = 0; r < rows; r++) {
                CopyIn2(r, c, n);
                Compute2(n);
            }
            accQueue.EnQue(acc);
            wQueue.FreeTensor(w);
            CopyOut1(c, n);
        }
    }

private:
    __aicore__ inline void CopyIn1(int64_t c, int64_t n)
    {
        w = wQueue.AllocTensor<float>();
        if (n > 0) {
            AscendC::DataCopyExtParams wCopy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPadExtParams<float> wPad{false, 0, 0, 0.0f};
            AscendC::DataCopyPad(w, wGm[c], wCopy, wPad);
        }
        wQueue.EnQue(w);
    }

    __aicore__ inline void Compute1(int64_t n)
    {
        acc = accQueue.AllocTensor<float>();
        AscendC::Duplicate(acc, 0.0f, static_cast<int32_t>(n));
    }

    __aicore__ inline void CopyIn2(int64_t r, int64_t c, int64_t n)
    {
        AscendC::LocalTensor<float> x = xQueue.AllocTensor<float>();
        if (n > 0) {
            AscendC::DataCopyExtParams xCopy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPadExtParams<float> xPad{false, 0, 0, 0.0f};
            AscendC::DataCopyPad(x, xGm[r * cols + c], xCopy, xPad);
        }
        xQueue.EnQue(x);
    }

    __aicore__ inline void Compute2(int64_t n)
    {
        AscendC::LocalTensor<float> x = xQueue.DeQue<float>();
        AscendC::Mul(x, x, w, static_cast<int32_t>(n));
        AscendC::Add(acc, acc, x, static_cast<int32_t>(n));
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut1(int64_t c, int64_t n)
    {
        acc = accQueue.DeQue<float>();
        if (n > 0) {
            AscendC::DataCopyExtParams accCopy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[c], acc, accCopy);
        }
        accQueue.FreeTensor(acc);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> acGap0;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> wQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> accQueue;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> wGm;
    AscendC::GlobalTensor<float> yGm;
    AscendC::LocalTensor<float> w;
    AscendC::LocalTensor<float> acc;
    int64_t rows;
    int64_t cols;
    int64_t tile;
};

extern "C" __global__ __aicore__ void test_custom(GM_ADDR x, GM_ADDR w, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelColsum op;
        op.Init(x, w, y, tilingData, &pipe);
        op.Process();
    }
}
