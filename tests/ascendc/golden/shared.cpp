// Device side of TestCustom.
// Made by ascendcraft 0.1.0 from test_custom.craft for Ascend910B2; see README.md. Yours to use in any way.
#include "kernel_operator.h"

// Bytes of a buffer: whole blocks, at least one.
__aicore__ inline uint32_t AcBytes(int64_t elements, int64_t size, int64_t to)
{
    int64_t n = (elements * size + to - 1) / to * to;
    return static_cast<uint32_t>(n < to ? to : n);
}

// buffers that live one after the other: b to d take turns in one TBuf, in place where an instruction allows it; sum lives across the
// loop, so it has bytes of its own, and half is smaller than the rest
class KernelTurns {
public:
    __aicore__ inline KernelTurns() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        rows = tilingData.rows;
        cols = tilingData.cols;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(xQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(cols, 4, 32));
        pipe->InitBuffer(bBuf, AcBytes(cols, 4, 32)); // b, d in turn
        pipe->InitBuffer(cBuf, AcBytes(cols, 4, 32));
        pipe->InitBuffer(half_Buf, AcBytes(cols, 2, 32));
        pipe->InitBuffer(sumBuf, AcBytes(cols, 4, 32));
        pipe->InitBuffer(yQueue, 1, AcBytes(cols, 4, 32));
    }

    __aicore__ inline void Process()
    {
        Compute1();
        for (int64_t r = 0; r < rows; r++) {
            CopyIn1(r);
            Compute2();
        }
        Compute3();
        CopyOut1();
    }

private:
    __aicore__ inline void Compute1()
    {
        AscendC::LocalTensor<float> sum = sumBuf.Get<float>();
        AscendC::Duplicate(sum, 0.0f, static_cast<int32_t>(cols));
    }

    __aicore__ inline void CopyIn1(int64_t r)
    {
        AscendC::LocalTensor<float> x = xQueue.AllocTensor<float>();
        if (cols > 0) {
            AscendC::DataCopyExtParams xCopy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPadExtParams<float> xPad{false, 0, 0, 0.0f};
            AscendC::DataCopyPad(x, xGm[r * cols], xCopy, xPad);
        }
        xQueue.EnQue(x);
    }

    __aicore__ inline void Compute2()
    {
        AscendC::LocalTensor<float> x = xQueue.DeQue<float>();
        AscendC::LocalTensor<float> b = bBuf.Get<float>();
        AscendC::LocalTensor<float> c = cBuf.Get<float>();
        AscendC::LocalTensor<float> d = bBuf.Get<float>();
        AscendC::LocalTensor<half> half_ = half_Buf.Get<half>();
        AscendC::LocalTensor<float> sum = sumBuf.Get<float>();
        AscendC::Exp(b, x, static_cast<int32_t>(cols));
        AscendC::Add(c, b, x, static_cast<int32_t>(cols));
        AscendC::Mul(d, c, b, static_cast<int32_t>(cols));
        AscendC::Cast(half_, d, AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(cols));
        AscendC::Cast(c, half_, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(cols));
        AscendC::Add(sum, sum, c, static_cast<int32_t>(cols));
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void Compute3()
    {
        AscendC::LocalTensor<float> y = yQueue.AllocTensor<float>();
        AscendC::LocalTensor<float> sum = sumBuf.Get<float>();
        AscendC::Muls(y, sum, 2.0f, static_cast<int32_t>(cols));
        yQueue.EnQue(y);
    }

    __aicore__ inline void CopyOut1()
    {
        AscendC::LocalTensor<float> y = yQueue.DeQue<float>();
        if (cols > 0) {
            AscendC::DataCopyExtParams yCopy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[0], y, yCopy);
        }
        yQueue.FreeTensor(y);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> cBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> half_Buf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    int64_t rows;
    int64_t cols;
};

extern "C" __global__ __aicore__ void test_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelTurns op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    }
}
