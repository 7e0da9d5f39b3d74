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

// Makes one unit wait for another: what queues do not order.
template <AscendC::HardEvent Event> __aicore__ inline void AcOrder()
{
    event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(Event));
    AscendC::SetFlag<Event>(id);
    AscendC::WaitFlag<Event>(id);
}

class KernelL2rows {
public:
    __aicore__ inline KernelL2rows() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        rows = tilingData.rows;
        rows_per_core = tilingData.rows_per_core;
        cols = tilingData.cols;
        eps = tilingData.eps;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(xQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(cols, 4, 32));
        pipe->InitBuffer(sqBuf, AcBytes(cols, 4, 32));
        pipe->InitBuffer(yQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(cols, 4, 32));
        pipe->InitBuffer(acWorkBuf, AcBytes(AcAlignUp(AcCeilDiv(cols, 64) * 2, 8), 4, 32));
        pipe->InitBuffer(acScratchBuf, AcBytes(2048, 4, 256));
    }

    __aicore__ inline void Process()
    {
        int64_t pid = static_cast<int64_t>(AscendC::GetBlockIdx());
        int64_t rEnd0 = AcMin((pid + 1) * rows_per_core, rows);
        for (int64_t r = pid * rows_per_core; r < rEnd0; r++) {
            CopyIn1(r);
            Compute1();
            CopyOut1(r);
        }
    }

private:
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

    __aicore__ inline void Compute1()
    {
        AscendC::LocalTensor<float> acScratch = acScratchBuf.Get<float>();
        AscendC::LocalTensor<float> acWork = acWorkBuf.Get<float>();
        AscendC::LocalTensor<float> x = xQueue.DeQue<float>();
        AscendC::LocalTensor<float> y = yQueue.AllocTensor<float>();
        AscendC::LocalTensor<float> sq = sqBuf.Get<float>();
        AscendC::Mul(sq, x, x, static_cast<int32_t>(cols));
        AscendC::ReduceSum(sq, sq, acWork, static_cast<int32_t>(cols));
        AscendC::Adds(sq, sq, eps, 1);
        AscendC::Sqrt(sq, sq, 1);
        AcOrder<AscendC::HardEvent::V_S>();
        float s = static_cast<float>(sq.GetValue(0));
        // vdiv_scalar
        for (int64_t acLane = 0; acLane < cols; acLane += 2048) {
            int64_t acCount = AcMin(2048, cols - acLane);
            AscendC::Duplicate(acScratch, s, static_cast<int32_t>(acCount));
            AscendC::Div(y[acLane], x[acLane], acScratch, static_cast<int32_t>(acCount));
        }
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut1(int64_t r)
    {
        AscendC::LocalTensor<float> y = yQueue.DeQue<float>();
        if (cols > 0) {
            AscendC::DataCopyExtParams yCopy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[r * cols], y, yCopy);
        }
        yQueue.FreeTensor(y);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sqBuf;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> acWorkBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> acScratchBuf;
    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> yGm;
    int64_t rows;
    int64_t rows_per_core;
    int64_t cols;
    float eps;
};

extern "C" __global__ __aicore__ void test_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    AscendC::TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelL2rows op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    }
}
