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

// y = max(x, 0) over every element
class KernelRelu {
public:
    __aicore__ inline KernelRelu() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        n = tilingData.n;
        per_core = tilingData.per_core;
        tile = tilingData.tile;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(xQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 32));
        pipe->InitBuffer(yQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 32));
    }

    __aicore__ inline void Process()
    {
        int64_t pid = static_cast<int64_t>(AscendC::GetBlockIdx());
        int64_t start = pid * per_core;
        int64_t end = AcMin(start + per_core, n);
        for (int64_t i = start; tile > 0 ? i < end : i > end; i += tile) {
            int64_t cnt = AcMin(tile, end - i);
            // the tail is shorter
            CopyIn1(i, cnt);
            Compute1(cnt);
            CopyOut1(i, cnt);
        }
    }

private:
    __aicore__ inline void CopyIn1(int64_t i, int64_t cnt)
    {
        AscendC::LocalTensor<float> x = xQueue.AllocTensor<float>();
        if (cnt > 0) {
            AscendC::DataCopyExtParams xCopy{1, static_cast<uint32_t>(cnt * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPadExtParams<float> xPad{false, 0, 0, 0.0f};
            AscendC::DataCopyPad(x, xGm[i], xCopy, xPad);
        }
        xQueue.EnQue(x);
    }

    __aicore__ inline void Compute1(int64_t cnt)
    {
        AscendC::LocalTensor<float> x = xQueue.DeQue<float>();
        AscendC::LocalTensor<float> y = yQueue.AllocTensor<float>();
        AscendC::Relu(y, x, static_cast<int32_t>(cnt));
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut1(int64_t i, int64_t cnt)
    {
        AscendC::LocalTensor<float> y = yQueue.DeQue<float>();
        if (cnt > 0) {
            AscendC::DataCopyExtParams yCopy{1, static_cast<uint32_t>(cnt * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[i], y, yCopy);
        }
        yQueue.FreeTensor(y);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    int64_t n;
    int64_t per_core;
    int64_t tile;
};

extern "C" __global__ __aicore__ void test_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelRelu op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    } else if (TILING_KEY_IS(0)) {
        // Nothing to do for this shape.
    }
}
