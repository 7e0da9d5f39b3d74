// Device side of TestCustom.
// Made by ascendcraft 0.1.0 from test_custom.craft for Ascend910B2; see README.md. Yours to use in any way.
#include "kernel_operator.h"

__aicore__ inline int64_t AcMin(int64_t a, int64_t b)
{
    return a < b ? a : b;
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

// two kernels, two tiling keys, a copy through one buffer, and a mask
class KernelCopy {
public:
    __aicore__ inline KernelCopy() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        n = tilingData.n;
        tile = tilingData.tile;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(bQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 32));
    }

    __aicore__ inline void Process()
    {
        int64_t iStep0 = static_cast<int64_t>(AscendC::GetBlockNum()) * tile;
        for (int64_t i = static_cast<int64_t>(AscendC::GetBlockIdx()) * tile; iStep0 > 0 ? i < n : i > n; i += iStep0) {
            int64_t c = AcMin(tile, n - i);
            CopyIn1(i, c);
            CopyOut1(i, c);
        }
    }

private:
    __aicore__ inline void CopyIn1(int64_t i, int64_t c)
    {
        AscendC::LocalTensor<float> b = bQueue.AllocTensor<float>();
        if (c > 0) {
            AscendC::DataCopyExtParams bCopy{1, static_cast<uint32_t>(c * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPadExtParams<float> bPad{false, 0, 0, 0.0f};
            AscendC::DataCopyPad(b, xGm[i], bCopy, bPad);
        }
        bQueue.EnQue(b);
    }

    __aicore__ inline void CopyOut1(int64_t i, int64_t c)
    {
        AscendC::LocalTensor<float> b = bQueue.DeQue<float>();
        if (c > 0) {
            AscendC::DataCopyExtParams bCopy{1, static_cast<uint32_t>(c * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[i], b, bCopy);
        }
        bQueue.FreeTensor(b);
    }

    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 2> bQueue;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    int64_t n;
    int64_t tile;
};

class KernelClip {
public:
    __aicore__ inline KernelClip() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        n = tilingData.n;
        tile = tilingData.tile;
        limit = tilingData.limit;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(xQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 256));
        pipe->InitBuffer(yQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(tile, 4, 32));
        pipe->InitBuffer(maskBuf, AcBytes(AcCeilDiv(tile, 256) * 32, 1, 32));
        pipe->InitBuffer(acScratchBuf, AcBytes(6144, 4, 256));
    }

    __aicore__ inline void Process()
    {
        int64_t iStep0 = static_cast<int64_t>(AscendC::GetBlockNum()) * tile;
        for (int64_t i = static_cast<int64_t>(AscendC::GetBlockIdx()) * tile; iStep0 > 0 ? i < n : i > n; i += iStep0) {
            int64_t c = AcMin(tile, n - i);
            CopyIn1(i, c);
            Compute1(c);
            CopyOut1(i, c);
        }
    }

private:
    __aicore__ inline void CopyIn1(int64_t i, int64_t c)
    {
        AscendC::LocalTensor<float> x = xQueue.AllocTensor<float>();
        if (c > 0) {
            AscendC::DataCopyExtParams xCopy{1, static_cast<uint32_t>(c * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPadExtParams<float> xPad{false, 0, 0, 0.0f};
            AscendC::DataCopyPad(x, xGm[i], xCopy, xPad);
        }
        xQueue.EnQue(x);
    }

    __aicore__ inline void Compute1(int64_t c)
    {
        AscendC::LocalTensor<float> acScratch = acScratchBuf.Get<float>();
        AscendC::LocalTensor<float> x = xQueue.DeQue<float>();
        AscendC::LocalTensor<float> y = yQueue.AllocTensor<float>();
        AscendC::LocalTensor<uint8_t> mask = maskBuf.Get<uint8_t>();
        AscendC::CompareScalar(mask, x, limit, AscendC::CMPMODE::LT, static_cast<uint32_t>(AcAlignUp(c, 64)));
        AscendC::Select(y, mask, x, limit, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, static_cast<uint32_t>(c));
        // vtanh
        for (int64_t acLane = 0; acLane < c; acLane += 2048) {
            int64_t acCount = AcMin(2048, c - acLane);
            AscendC::Muls(acScratch, y[acLane], 1.0f, static_cast<int32_t>(acCount));
            AscendC::Mins(acScratch, acScratch, 7.905311f, static_cast<int32_t>(acCount));
            AscendC::Maxs(acScratch, acScratch, -7.905311f, static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch[2048], acScratch, acScratch, static_cast<int32_t>(acCount));
            AscendC::Muls(acScratch[4096], acScratch[2048], -2.760769e-16f, static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch[4096], acScratch[4096], 2.0001882e-13f, static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch[4096], acScratch[4096], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch[4096], acScratch[4096], -8.604673e-11f, static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch[4096], acScratch[4096], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch[4096], acScratch[4096], 5.122298e-08f, static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch[4096], acScratch[4096], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch[4096], acScratch[4096], 1.4857226e-05f, static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch[4096], acScratch[4096], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch[4096], acScratch[4096], 0.00063726207f, static_cast<int32_t>(acCount));
            AscendC::Mul(acScratch[4096], acScratch[4096], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(acScratch[4096], acScratch[4096], 0.0048935255f, static_cast<int32_t>(acCount));
            AscendC::Muls(y[acLane], acScratch[2048], 1.1982584e-06f, static_cast<int32_t>(acCount));
            AscendC::Adds(y[acLane], y[acLane], 0.00011853471f, static_cast<int32_t>(acCount));
            AscendC::Mul(y[acLane], y[acLane], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(y[acLane], y[acLane], 0.0022684347f, static_cast<int32_t>(acCount));
            AscendC::Mul(y[acLane], y[acLane], acScratch[2048], static_cast<int32_t>(acCount));
            AscendC::Adds(y[acLane], y[acLane], 0.004893525f, static_cast<int32_t>(acCount));
            AscendC::Div(y[acLane], acScratch[4096], y[acLane], static_cast<int32_t>(acCount));
            AscendC::Mul(y[acLane], y[acLane], acScratch, static_cast<int32_t>(acCount));
            AscendC::Mins(y[acLane], y[acLane], 1.0f, static_cast<int32_t>(acCount));
            AscendC::Maxs(y[acLane], y[acLane], -1.0f, static_cast<int32_t>(acCount));
        }
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut1(int64_t i, int64_t c)
    {
        AscendC::LocalTensor<float> y = yQueue.DeQue<float>();
        if (c > 0) {
            AscendC::DataCopyExtParams yCopy{1, static_cast<uint32_t>(c * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[i], y, yCopy);
        }
        yQueue.FreeTensor(y);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> maskBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> acScratchBuf;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    int64_t n;
    int64_t tile;
    float limit;
};

extern "C" __global__ __aicore__ void test_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelCopy op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        KernelClip op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    }
}
