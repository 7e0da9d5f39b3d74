// z = x + alpha * y, as an msopgen kernel is written; its tiling struct stands here.
#include "kernel_operator.h"

struct AddTilingData {
    uint32_t totalLength;
    uint16_t tileNum;
    float alpha[2];
};

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, const AddTilingData &t)
    {
        length = t.totalLength / AscendC::GetBlockNum();
        tile = length / t.tileNum;
        tiles = t.tileNum;
        alpha = t.alpha[1];
        int64_t first = static_cast<int64_t>(length) * AscendC::GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + first, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + first, length);
        zGm.SetGlobalBuffer((__gm__ DTYPE_X *)z + first, length);
        pipe.InitBuffer(inX, 2, tile * sizeof(DTYPE_X));
        pipe.InitBuffer(inY, 2, tile * sizeof(DTYPE_X));
        pipe.InitBuffer(outZ, 2, tile * sizeof(DTYPE_X));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tiles; i++) {
            AscendC::LocalTensor<DTYPE_X> x = inX.AllocTensor<DTYPE_X>();
            AscendC::LocalTensor<DTYPE_X> y = inY.AllocTensor<DTYPE_X>();
            AscendC::DataCopy(x, xGm[i * tile], tile);
            AscendC::DataCopy(y, yGm[i * tile], tile);
            inX.EnQue(x);
            inY.EnQue(y);
            x = inX.DeQue<DTYPE_X>();
            y = inY.DeQue<DTYPE_X>();
            AscendC::LocalTensor<DTYPE_X> z = outZ.AllocTensor<DTYPE_X>();
            AscendC::Muls(y, y, static_cast<DTYPE_X>(alpha), tile);
            AscendC::Add(z, x, y, tile);
            outZ.EnQue(z);
            inX.FreeTensor(x);
            inY.FreeTensor(y);
            z = outZ.DeQue<DTYPE_X>();
            AscendC::DataCopy(zGm[i * tile], z, tile);
            outZ.FreeTensor(z);
        }
    }

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> inX, inY;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> outZ;
    AscendC::GlobalTensor<DTYPE_X> xGm, yGm, zGm;
    uint32_t length, tile, tiles;
    float alpha;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(t, tiling);
    KernelAdd op;
    op.Init(x, y, z, t);
    op.Process();
}
