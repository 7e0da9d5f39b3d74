// Device side of TestCustom.
// Made by ascendcraft 0.1.0 from test_custom.craft for Ascend910B2; see README.md. Yours to use in any way.
#include "kernel_operator.h"

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

// a buffer that keeps its value from one trip to the next and is stored in each: no queue fits, flags order it
class KernelRunning {
public:
    __aicore__ inline KernelRunning() {}

    template <typename Tiling>
    __aicore__ inline void Init(GM_ADDR x_ptr, GM_ADDR y_ptr, const Tiling &tilingData, AscendC::TPipe *pipe)
    {
        rows = tilingData.rows;
        cols = tilingData.cols;
        xGm.SetGlobalBuffer((__gm__ float *)x_ptr);
        yGm.SetGlobalBuffer((__gm__ float *)y_ptr);
        pipe->InitBuffer(xQueue, static_cast<uint8_t>(tilingData.bufferNum), AcBytes(cols, 4, 32));
        pipe->InitBuffer(runBuf, AcBytes(cols, 4, 32));
    }

    __aicore__ inline void Process()
    {
        Compute1();
        for (int64_t r = 0; r < rows; r++) {
            CopyIn1(r);
            Compute2();
            CopyOut1(r);
        }
    }

private:
    __aicore__ inline void Compute1()
    {
        AscendC::LocalTensor<float> run = runBuf.Get<float>();
        AscendC::Duplicate(run, 0.0f, static_cast<int32_t>(cols));
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
        AscendC::LocalTensor<float> run = runBuf.Get<float>();
        AscendC::Add(run, run, x, static_cast<int32_t>(cols));
        xQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut1(int64_t r)
    {
        AscendC::LocalTensor<float> run = runBuf.Get<float>();
        AcOrder<AscendC::HardEvent::V_MTE3>();
        if (cols > 0) {
            AscendC::DataCopyExtParams runCopy{1, static_cast<uint32_t>(cols * sizeof(float)), 0, 0, 0};
            AscendC::DataCopyPad(yGm[r * cols], run, runCopy);
        }
        AcOrder<AscendC::HardEvent::MTE3_V>();
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> runBuf;
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
        KernelRunning op;
        op.Init(x, y, tilingData, &pipe);
        op.Process();
    }
}
