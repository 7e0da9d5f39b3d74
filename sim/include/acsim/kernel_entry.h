/* The wrapper around a kernel that is run by itself. The runner writes a file of these lines and compiles it:
 *
 *   #include "acsim/kernel_entry.h"
 *   #include "the kernel's source"
 *   ACSIM_ENTRY(::ns::kernel<float>)
 *   ACSIM_TILING(::TilingData)       (or ACSIM_NO_TILING)
 *   ACSIM_FIELD(tileNum) ACSIM_FIELD(sizes[2]) ...
 *   ACSIM_TILING_END
 *
 * So the compiler itself finds the types of parameters and of fields, and their places. */
#ifndef ACSIM_KERNEL_ENTRY_H
#define ACSIM_KERNEL_ENTRY_H

#include "acsim/entry_abi.h"

namespace acsim_entry {
template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };
template <class T> struct bare { using type = T; };
template <class T> struct bare<T &> : bare<T> {};
template <class T> struct bare<T &&> : bare<T> {};
template <class T> struct bare<const T> : bare<T> {};
template <class T> struct bare<volatile T> : bare<T> {};
template <class T> struct is_pointer { static constexpr bool value = false; };
template <class T> struct is_pointer<T *> { static constexpr bool value = true; };
template <class T>
inline constexpr bool is_float =
    same<T, float>::value || same<T, double>::value || same<T, half>::value || same<T, bfloat16_t>::value;
template <class T> struct is_integer { static constexpr bool value = __is_enum(T); };
#define ACSIM_INTEGER(T) \
  template <> struct is_integer<T> { static constexpr bool value = true; };
ACSIM_INTEGER(bool)
ACSIM_INTEGER(char)
ACSIM_INTEGER(signed char)
ACSIM_INTEGER(unsigned char)
ACSIM_INTEGER(short)
ACSIM_INTEGER(unsigned short)
ACSIM_INTEGER(int)
ACSIM_INTEGER(unsigned)
ACSIM_INTEGER(long)
ACSIM_INTEGER(unsigned long)
ACSIM_INTEGER(long long)
ACSIM_INTEGER(unsigned long long)
#undef ACSIM_INTEGER

/* "const char *acsim_entry::spell() [with T = unsigned int]" (g++), "... [T = unsigned int]" (clang) */
template <class T> const char *pretty() {
  return __PRETTY_FUNCTION__;
}
template <class T> void spell(char *to, unsigned n) {
  const char *p = pretty<T>(), *s = p;
  for (; *p; p++)
    if (p[0] == 'T' && p[1] == ' ' && p[2] == '=' && p[3] == ' ') {
      s = p + 4;
      break;
    }
  unsigned k = 0, depth = 0;
  for (; *s && k + 1 < n && (*s != ']' || depth) && *s != ';'; s++) {
    depth += *s == '[';
    depth -= *s == ']';
    to[k++] = *s;
  }
  to[k] = 0;
}

/* ---- parameters ---- */

template <class A> void describe(acsim_param *to) {
  using T = typename bare<A>::type;
  to->bytes = sizeof(T);
  to->is_signed = 0;
  if constexpr (is_pointer<T>::value) {
    to->kind = ACSIM_PARAM_POINTER;
  } else if constexpr (is_float<T>) {
    to->kind = ACSIM_PARAM_FLOAT;
  } else if constexpr (is_integer<T>::value) {
    to->kind = ACSIM_PARAM_INTEGER;
    to->is_signed = static_cast<T>(-1) < static_cast<T>(0);
  } else {
    to->kind = ACSIM_PARAM_STRUCT;
  }
  spell<T>(to->type, sizeof to->type);
}
template <class... A> int params(void (*)(A...), acsim_param *to, int most) {
  void (*const all[])(acsim_param *) = {&describe<A>..., nullptr};
  for (int i = 0; i < static_cast<int>(sizeof...(A)) && i < most; i++) all[i](to + i);
  return sizeof...(A);
}

template <class A> decltype(auto) pass(const acsim_arg &x) {
  using T = typename bare<A>::type;
  if constexpr (is_pointer<T>::value)
    return (T)x.p;
  else if constexpr (is_float<T>)
    return static_cast<T>(x.f);
  else if constexpr (is_integer<T>::value)
    return static_cast<T>(x.i);
  else
    return static_cast<T &>(*static_cast<T *>(x.p));
}
template <unsigned long... I> struct seq {};
template <unsigned long N, unsigned long... I> struct make : make<N - 1, N - 1, I...> {};
template <unsigned long... I> struct make<0, I...> { using type = seq<I...>; };
template <class... A, unsigned long... I> void call(void (*f)(A...), const acsim_arg *p, seq<I...>) {
  f(pass<A>(p[I])...);
}
template <class... A> void run(void (*f)(A...), const acsim_arg *p) {
  call(f, p, typename make<sizeof...(A)>::type());
}
/* a launcher may return something */
template <class R, class... A> int params(R (*)(A...), acsim_param *to, int most) {
  return params(static_cast<void (*)(A...)>(nullptr), to, most);
}
template <class R, class... A, unsigned long... I> void call_r(R (*f)(A...), const acsim_arg *p, seq<I...>) {
  (void)f(pass<A>(p[I])...);
}
template <class R, class... A> void run(R (*f)(A...), const acsim_arg *p) {
  call_r(f, p, typename make<sizeof...(A)>::type());
}

/* ---- tiling fields ---- */

template <class T> bool fits(const acsim_number &v) {
  if constexpr (is_float<T>) {
    return true;
  } else {
    if (!v.whole) return false;
    if constexpr (same<T, bool>::value) {
      return v.i == 0 || v.i == 1;
    } else if constexpr (__is_enum(T)) {
      return true;
    } else if constexpr (static_cast<T>(-1) < static_cast<T>(0)) {
      return (v.negative || v.i >= 0) && static_cast<int64_t>(static_cast<T>(v.i)) == v.i;
    } else {
      return !v.negative && static_cast<uint64_t>(static_cast<T>(v.i)) == static_cast<uint64_t>(v.i);
    }
  }
}
template <class T> T number(const acsim_number &v) {
  double whole = v.negative ? static_cast<double>(v.i) : static_cast<double>(static_cast<uint64_t>(v.i));
  if constexpr (is_float<T>)
    return static_cast<T>(v.whole ? whole : v.f);
  else
    return static_cast<T>(v.i);
}
template <class T> void where(T &to, acsim_set_result *r) {
  r->at = const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(to)));
  r->bytes = sizeof to;
  r->align = alignof(T);
}
template <class T> void store(T &to, const acsim_number *v, int n, acsim_set_result *r) {
  spell<T>(r->type, sizeof r->type);
  r->length = 1;
  where(to, r);
  if constexpr (is_float<T> || is_integer<T>::value) {
    if (n != 1) {
      r->status = ACSIM_SET_LENGTH;
    } else if (!fits<T>(v[0])) {
      r->status = ACSIM_SET_RANGE;
    } else {
      to = number<T>(v[0]);
      r->status = ACSIM_SET_OK;
    }
  } else {
    r->status = __is_class(T) ? ACSIM_SET_STRUCT : ACSIM_SET_TYPE;
  }
}
template <class T, decltype(sizeof 0) N> void store(T (&to)[N], const acsim_number *v, int n, acsim_set_result *r) {
  spell<T>(r->type, sizeof r->type);
  r->status = n > static_cast<long>(N) ? ACSIM_SET_LENGTH : ACSIM_SET_OK;
  for (int i = 0; i < n && r->status == ACSIM_SET_OK; i++) {
    store(to[i], v + i, 1, r);
    r->value = i;
  }
  r->length = N;
  where(to, r);
}
/* The field exists and may be named: */
template <class F, class T>
auto set(F field, T *t, const acsim_number *v, int n, acsim_set_result *r, int) -> decltype(field(t), void()) {
  store(field(t), v, n, r);
}
/* otherwise: */
template <class F, class T> void set(F, T *, const acsim_number *, int, acsim_set_result *r, long) {
  r->status = ACSIM_SET_NO_FIELD;
}
inline bool equal(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}
struct none {};
template <class T> void init(void *to) {
  if constexpr (!same<T, none>::value) {
    T t{};
    __builtin_memcpy(to, &t, sizeof t);
  }
}
} // namespace acsim_entry

#define ACSIM_EXPORT extern "C" __attribute__((visibility("default")))
#define ACSIM_ENTRY(...)                                                    \
  ACSIM_EXPORT int32_t acsim_kernel_params(acsim_param *to, int32_t most) { \
    return acsim_entry::params(&__VA_ARGS__, to, most);                     \
  }                                                                         \
  ACSIM_EXPORT void acsim_kernel_run(const acsim_arg *p) {                  \
    acsim_entry::run(&__VA_ARGS__, p);                                      \
  }
#define ACSIM_TILING(...)                                                                                         \
  ACSIM_EXPORT int64_t acsim_tiling_bytes() {                                                                     \
    return sizeof(__VA_ARGS__);                                                                                   \
  }                                                                                                               \
  ACSIM_EXPORT void acsim_tiling_init(void *to) {                                                                 \
    acsim_entry::init<__VA_ARGS__>(to);                                                                           \
  }                                                                                                               \
  template <class T>                                                                                              \
  static void acsim_tiling_fields(T *t, const char *path, const acsim_number *v, int32_t n, acsim_set_result *r); \
  ACSIM_EXPORT void acsim_tiling_set(void *to, const char *path, const acsim_number *v, int32_t n,                \
                                     acsim_set_result *r) {                                                       \
    r->status = ACSIM_SET_NO_FIELD;                                                                               \
    r->value = 0;                                                                                                 \
    acsim_tiling_fields(static_cast<__VA_ARGS__ *>(to), path, v, n, r);                                           \
  }                                                                                                               \
  template <class T>                                                                                              \
  static void acsim_tiling_fields(T *t, const char *path, const acsim_number *v, int32_t n, acsim_set_result *r) {
#define ACSIM_FIELD(path_)              \
  if (acsim_entry::equal(path, #path_)) \
    acsim_entry::set([](auto *x) -> decltype((x->path_)) { return x->path_; }, t, v, n, r, 0);
#define ACSIM_TILING_END }
#define ACSIM_NO_TILING                                                                                          \
  ACSIM_EXPORT int64_t acsim_tiling_bytes() {                                                                    \
    return 0;                                                                                                    \
  }                                                                                                              \
  ACSIM_EXPORT void acsim_tiling_init(void *) {}                                                                 \
  ACSIM_EXPORT void acsim_tiling_set(void *, const char *, const acsim_number *, int32_t, acsim_set_result *r) { \
    r->status = ACSIM_SET_NO_FIELD;                                                                              \
  }
#endif
