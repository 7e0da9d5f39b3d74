// PyTorch extension that launches a2_custom.
// Made by ascendcraft 0.1.0 from a2.py for Ascend910B2; see README.md. Yours to use in any way.
#include <torch/extension.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "tiling/platform/platform_ascendc.h"
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tuple>

extern "C" int32_t a2_custom_workspace(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs, int64_t *bytes,
    char *msg, uint32_t len);
extern "C" int32_t a2_custom_run(uint32_t cores, uint64_t ub, const int64_t *const *shapes, const int32_t *ranks, const double *attrs, void *const *data,
    void *workspace, void *stream, char *msg, uint32_t len);

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

} // namespace

at::Tensor a2_custom(const at::Tensor &x)
{
    TORCH_CHECK(x.scalar_type() == at::kFloat, "a2_custom: x must be float32");
    at::Tensor xIn = x.contiguous();
    ShapeView shapes[1];
    shapes[0] = ShapeView{xIn.sizes().data(), static_cast<int32_t>(xIn.dim())};
    int64_t dims[1][16];
    ShapeView outputs[1];
    refusal[0] = 0;
    OutputShapes(shapes, dims, outputs);
    TORCH_CHECK(refusal[0] == 0, refusal);
    at::Tensor out = at::empty(at::IntArrayRef(outputs[0].dims, static_cast<size_t>(outputs[0].rank)), xIn.options().dtype(at::kFloat));
    if (out.numel() != 0) {
        const int64_t *sizes[3];
        int32_t ranks[3];
        void *data[3];
        sizes[0] = xIn.sizes().data();
        ranks[0] = static_cast<int32_t>(xIn.dim());
        data[0] = xIn.data_ptr();
        sizes[1] = out.sizes().data();
        ranks[1] = static_cast<int32_t>(out.dim());
        data[1] = out.data_ptr();
        const double attrs[] = {0.0};
        auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();
        const uint32_t cores = platform->GetCoreNumAiv();
        uint64_t ub = 0;
        platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
        char msg[320] = {0};
        int64_t bytes = 0;
        TORCH_CHECK(a2_custom_workspace(cores, ub, sizes, ranks, attrs, &bytes, msg, sizeof(msg)) == 0, msg);
        at::Tensor workspace = at::empty({bytes > 0 ? bytes : 1}, xIn.options().dtype(at::kByte));
        void *stream = c10_npu::getCurrentNPUStream().stream();
        TORCH_CHECK(a2_custom_run(cores, ub, sizes, ranks, attrs, data, workspace.data_ptr(), stream, msg, sizeof(msg)) == 0, msg);
    }
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("a2_custom", &a2_custom, "A2Custom");
}
