/* AscendC::Std, the C++ library's parts for kernels: what can be asked at compile time, tuples, and a kernel that uses them. */
#include "std/tuple.h"
#include "utils/std/algorithm.h"
#include "kernel_operator.h"
#include "sim_test.h"

using namespace AscendC;
namespace {
struct A {};
struct B : A {};
static_assert(Std::is_same_v<int, int> && !Std::is_same<int, float>::value, "");
static_assert(Std::is_base_of_v<A, B> && !Std::is_base_of_v<B, A>, "");
static_assert(Std::is_same_v<Std::conditional_t<true, half, float>, half>);
static_assert(Std::is_same_v<Std::remove_cvref_t<const int &>, int>);
static_assert(Std::is_same_v<Std::decay_t<int[3]>, int *> && Std::is_same_v<Std::decay_t<void()>, void (*)()>);
static_assert(Std::is_convertible_v<int, float> && !Std::is_convertible_v<A, int>);
static_assert(Std::make_index_sequence<3>::size() == 3);
static_assert(Std::is_integral_v<uint32_t> && Std::is_floating_point_v<float> && Std::is_pointer_v<int *const>);
static_assert(Std::is_function_v<void()> && !Std::is_function_v<int> && !Std::is_function_v<int &>);
template <decltype(sizeof 0)... n> constexpr int sum(Std::index_sequence<n...>) {
  return (0 + ... + int(n));
}
static_assert(sum(Std::make_index_sequence<5>{}) == 10);
static_assert(Std::is_tuple_v<Std::tuple<int>> && Std::tuple_size_v<Std::tuple<int, float>> == 2);
static_assert(Std::is_same_v<Std::tuple_element<1, Std::tuple<int, float>>::type, float>);
static_assert(Std::min(3, 4L) == 3 && Std::max(3u, 7u) == 7 && Std::ceil_division(7, 2) == 4 &&
              Std::ceil_align(7, 4) == 8);
static_assert(Std::is_constant_v<3, Std::integral_constant<int, 3>>);
static_assert(Std::is_one_of_v<int, float, int>);

constexpr int N = 64;
void ramp(void *p, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<float *>(p)[i] = static_cast<float>(i);
}
template <typename T> Std::enable_if_t<Std::is_same_v<T, float>, T> scale_of(const Std::tuple<T, uint32_t> &t) {
  return Std::get<0>(t) * static_cast<T>(Std::get<1>(t));
}
void k_tuples(GM_ADDR a, GM_ADDR b, GM_ADDR) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  GlobalTensor<float> x, y;
  x.SetGlobalBuffer((__gm__ float *)a, N);
  y.SetGlobalBuffer((__gm__ float *)b, N);
  pipe.InitBuffer(buffer, N * sizeof(float));
  LocalTensor<float> t = buffer.Get<float>();
  float scale = 0;
  uint32_t count = 0;
  Std::tie(scale, count) = Std::make_tuple(1.5f, Std::min(100u, static_cast<uint32_t>(N)));
  uint32_t other = 1;
  Std::tuple<uint32_t &> reference(other);
  Std::get<0>(reference) = 2;
  Std::tuple<float, uint32_t> both{scale, 7};
  both = Std::tuple<float, uint32_t>(scale, other);
  DataCopy(t, x, count);
  PipeBarrier<PIPE_ALL>();
  Muls(t, t, scale_of(both), Std::max(1, static_cast<int>(count)));
  PipeBarrier<PIPE_ALL>();
  DataCopy(y, t, Std::ceil_align(count, 8));
}
int64_t c_tuples(const void *px, const void *py) {
  const float *x = static_cast<const float *>(px), *y = static_cast<const float *>(py);
  for (int i = 0; i < N; i++)
    if (y[i] != x[i] * 3) return i;
  return -1;
}
const sim_case cases[] = {{"tuples", k_tuples, 1, 4, N, N, 0, nullptr, nullptr, ramp, c_tuples, 0, 0, 0}};
} // namespace
SIM_CASES(cases);
