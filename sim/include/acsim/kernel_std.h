/* AscendC::Std: the parts of the C++ library that kernels may use on the device (asc-devkit docs/zh, "C++标准库"; names also from its
 * headers include/utils/std). Plain C++17, no C++ library. */
#ifndef ACSIM_KERNEL_STD_H
#define ACSIM_KERNEL_STD_H

#include "acsim/kernel_types.h"

namespace AscendC {
namespace Std {

/* ---- type_traits ---- */

template <typename T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return v; }
  constexpr T operator()() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <typename...> constexpr bool always_false_v = false;

template <bool condition, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool condition, typename A, typename B> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };

#define ACSIM_TYPE_TRAIT(name, from, to)                 \
  template <typename T> struct name { using type = T; }; \
  template <typename T> struct name<from> { using type = to; }
ACSIM_TYPE_TRAIT(remove_const, const T, T);
ACSIM_TYPE_TRAIT(remove_volatile, volatile T, T);
ACSIM_TYPE_TRAIT(remove_extent, T[], T);
template <typename T, decltype(sizeof 0) n> struct remove_extent<T[n]> { using type = T; };
ACSIM_TYPE_TRAIT(remove_reference, T &, T);
template <typename T> struct remove_reference<T &&> { using type = T; };
ACSIM_TYPE_TRAIT(remove_pointer, T *, T);
template <typename T> struct remove_pointer<T *const> { using type = T; };
template <typename T> struct remove_pointer<T *volatile> { using type = T; };
template <typename T> struct remove_pointer<T *const volatile> { using type = T; };
#undef ACSIM_TYPE_TRAIT
template <typename T> struct remove_cv {
  using type = typename remove_const<typename remove_volatile<T>::type>::type;
};
template <typename T> struct remove_cvref {
  using type = typename remove_cv<typename remove_reference<T>::type>::type;
};
template <typename T> struct add_const { using type = const T; };
template <typename T> struct add_volatile { using type = volatile T; };
template <typename T> struct add_cv { using type = const volatile T; };

#define ACSIM_TEST_TRAIT(name, expression)                                             \
  template <typename T> struct name : bool_constant<static_cast<bool>(expression)> {}; \
  template <typename T> constexpr bool name##_v = name<T>::value
template <typename A, typename B> struct is_same : false_type {};
template <typename A> struct is_same<A, A> : true_type {};
template <typename A, typename B> constexpr bool is_same_v = is_same<A, B>::value;
template <typename A, typename... B> struct is_one_of : bool_constant<(is_same<A, B>::value || ...)> {};
template <typename A, typename... B> constexpr bool is_one_of_v = is_one_of<A, B...>::value;
template <typename T, T v, T... of> struct is_one_of_value : bool_constant<((v == of) || ...)> {};
template <typename T, T v, T... of> constexpr bool is_one_of_value_v = is_one_of_value<T, v, of...>::value;
namespace traits {
template <typename T> using bare = typename remove_cv<T>::type;
template <typename T> struct reference : false_type {};
template <typename T> struct reference<T &> : true_type {};
template <typename T> struct reference<T &&> : true_type {};
template <typename T> struct pointer : false_type {};
template <typename T> struct pointer<T *> : true_type {};
template <typename T> struct array : false_type {};
template <typename T> struct array<T[]> : true_type {};
template <typename T, decltype(sizeof 0) n> struct array<T[n]> : true_type {};
template <typename T> struct constant : false_type {};
template <typename T> struct constant<const T> : true_type {};
/* A function is neither an object, whose const is another type, nor a reference. */
template <typename T> struct function : bool_constant<!constant<const T>::value && !reference<T>::value> {};
template <typename T, bool none> struct referenced {
  using left = T &;
  using right = T &&;
};
template <typename T> struct referenced<T, true> {
  using left = T;
  using right = T;
};
} // namespace traits
ACSIM_TEST_TRAIT(is_void, (is_same<traits::bare<T>, void>::value));
ACSIM_TEST_TRAIT(
    is_integral,
    (is_one_of<traits::bare<T>, bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, short,
               unsigned short, int, unsigned int, long, unsigned long, long long, unsigned long long>::value));
ACSIM_TEST_TRAIT(is_floating_point, (is_one_of<traits::bare<T>, float, double, half, bfloat16_t>::value));
ACSIM_TEST_TRAIT(is_pointer, traits::pointer<traits::bare<T>>::value);
ACSIM_TEST_TRAIT(is_reference, traits::reference<T>::value);
ACSIM_TEST_TRAIT(is_array, traits::array<T>::value);
ACSIM_TEST_TRAIT(is_const, traits::constant<T>::value);
ACSIM_TEST_TRAIT(is_function, traits::function<T>::value);
ACSIM_TEST_TRAIT(is_class, __is_class(T));
ACSIM_TEST_TRAIT(is_union, __is_union(T));
#undef ACSIM_TEST_TRAIT
template <typename Base, typename Derived> struct is_base_of : bool_constant<__is_base_of(Base, Derived)> {};
template <typename Base, typename Derived> constexpr bool is_base_of_v = is_base_of<Base, Derived>::value;
template <typename T> struct add_lvalue_reference {
  using type = typename traits::referenced<T, is_void<T>::value>::left;
};
template <typename T> struct add_rvalue_reference {
  using type = typename traits::referenced<T, is_void<T>::value>::right;
};
template <typename T> struct add_pointer { using type = typename remove_reference<T>::type *; };
template <typename T> typename add_rvalue_reference<T>::type declval() noexcept; /* never called */
namespace traits {
template <typename To> void take(To);
template <typename From, typename To> auto converts(int) -> decltype(take<To>(declval<From>()), true_type());
template <typename, typename> false_type converts(...);
template <typename T, bool array, bool function> struct decays { using type = bare<T>; };
template <typename T> struct decays<T, true, false> { using type = typename remove_extent<T>::type *; };
template <typename T> struct decays<T, false, true> { using type = T *; };
} // namespace traits
template <typename From, typename To>
struct is_convertible
    : bool_constant<(is_void<From>::value && is_void<To>::value) || decltype(traits::converts<From, To>(0))::value> {
};
template <typename From, typename To> constexpr bool is_convertible_v = is_convertible<From, To>::value;
template <typename T> struct decay {
  using bare = typename remove_reference<T>::type;
  using type = typename traits::decays<bare, is_array<bare>::value, is_function<bare>::value>::type;
};
template <auto n, typename T> struct is_constant : false_type {};
template <auto n, typename T, T v> struct is_constant<n, integral_constant<T, v>> : bool_constant<v == n> {};
template <auto n, typename T> struct is_constant<n, const T> : is_constant<n, T> {};
template <auto n, typename T> struct is_constant<n, T &> : is_constant<n, T> {};
template <auto n, typename T> struct is_constant<n, T &&> : is_constant<n, T> {};
template <auto n, typename T> constexpr bool is_constant_v = is_constant<n, T>::value;

template <bool condition, typename T = void> using enable_if_t = typename enable_if<condition, T>::type;
template <bool condition, typename A, typename B> using conditional_t = typename conditional<condition, A, B>::type;
#define ACSIM_T(name) template <typename T> using name##_t = typename name<T>::type
ACSIM_T(remove_const);
ACSIM_T(remove_volatile);
ACSIM_T(remove_cv);
ACSIM_T(remove_reference);
ACSIM_T(remove_cvref);
ACSIM_T(remove_pointer);
ACSIM_T(remove_extent);
ACSIM_T(add_const);
ACSIM_T(add_volatile);
ACSIM_T(add_cv);
ACSIM_T(add_pointer);
ACSIM_T(add_lvalue_reference);
ACSIM_T(add_rvalue_reference);
ACSIM_T(decay);
#undef ACSIM_T

/* ---- utility ---- */

template <typename T> constexpr remove_reference_t<T> &&move(T &&x) noexcept {
  return static_cast<remove_reference_t<T> &&>(x);
}
template <typename T> constexpr T &&forward(remove_reference_t<T> &x) noexcept {
  return static_cast<T &&>(x);
}
template <typename T> constexpr T &&forward(remove_reference_t<T> &&x) noexcept {
  return static_cast<T &&>(x);
}
template <typename T, T... n> struct integer_sequence {
  using value_type = T;
  static constexpr decltype(sizeof 0) size() { return sizeof...(n); }
};
#if defined(__clang__)
template <typename T, T n> using make_integer_sequence = __make_integer_seq<integer_sequence, T, n>;
#else
template <typename T, T n> using make_integer_sequence = integer_sequence<T, __integer_pack(n)...>;
#endif
template <decltype(sizeof 0)... n> using index_sequence = integer_sequence<decltype(sizeof 0), n...>;
template <decltype(sizeof 0) n> using make_index_sequence = make_integer_sequence<decltype(sizeof 0), n>;
template <typename... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

/* ---- tuple ---- */

template <typename... T> class tuple;
template <typename T> struct tuple_size;
template <typename... T> struct tuple_size<tuple<T...>> : integral_constant<decltype(sizeof 0), sizeof...(T)> {};
template <typename T> struct tuple_size<const T> : tuple_size<T> {};
template <typename T> struct tuple_size<volatile T> : tuple_size<T> {};
template <typename T> struct tuple_size<const volatile T> : tuple_size<T> {};
template <typename T> constexpr decltype(sizeof 0) tuple_size_v = tuple_size<T>::value;
template <decltype(sizeof 0) n, typename T> struct tuple_element;
template <decltype(sizeof 0) n, typename First, typename... T>
struct tuple_element<n, tuple<First, T...>> : tuple_element<n - 1, tuple<T...>> {};
template <typename First, typename... T> struct tuple_element<0, tuple<First, T...>> { using type = First; };
template <decltype(sizeof 0) n, typename T> struct tuple_element<n, const T> {
  using type = const typename tuple_element<n, T>::type;
};
template <decltype(sizeof 0) n, typename T> using tuple_element_t = typename tuple_element<n, T>::type;
template <typename T> struct is_tuple : false_type {};
template <typename... T> struct is_tuple<tuple<T...>> : true_type {};
template <typename T> struct is_tuple<const T> : is_tuple<T> {};
template <typename T> constexpr bool is_tuple_v = is_tuple<T>::value;

template <> class tuple<> {};
template <typename First, typename... T> class tuple<First, T...> {
public:
  constexpr tuple() : first_(), rest_() {}
  constexpr tuple(const First &x, const T &...more) : first_(x), rest_(more...) {}
  template <typename A, typename... B,
            enable_if_t<sizeof...(B) == sizeof...(T) && (sizeof...(T) > 0 || !is_same_v<remove_cvref_t<A>, tuple>),
                        int> = 0>
  constexpr tuple(A &&x, B &&...more) : first_(Std::forward<A>(x)), rest_(Std::forward<B>(more)...) {}
  template <typename A, typename... B> constexpr tuple &operator=(const tuple<A, B...> &o) {
    first_ = o.first_;
    rest_ = o.rest_;
    return *this;
  }
  constexpr tuple(const tuple &) = default;
  constexpr tuple(tuple &&) = default;
  constexpr tuple &operator=(const tuple &o) { /* of references: what they refer to */
    first_ = o.first_;
    rest_ = o.rest_;
    return *this;
  }

  First first_;
  tuple<T...> rest_;
};
template <typename... T> tuple(T...) -> tuple<T...>;
template <decltype(sizeof 0) n, typename... T>
constexpr tuple_element_t<n, tuple<T...>> &get(tuple<T...> &t) noexcept {
  if constexpr (n == 0)
    return t.first_;
  else
    return Std::get<n - 1>(t.rest_);
}
template <decltype(sizeof 0) n, typename... T>
constexpr const tuple_element_t<n, tuple<T...>> &get(const tuple<T...> &t) noexcept {
  if constexpr (n == 0)
    return t.first_;
  else
    return Std::get<n - 1>(t.rest_);
}
template <decltype(sizeof 0) n, typename... T>
constexpr tuple_element_t<n, tuple<T...>> &&get(tuple<T...> &&t) noexcept {
  return static_cast<tuple_element_t<n, tuple<T...>> &&>(Std::get<n>(t));
}
template <typename... T> constexpr tuple<decay_t<T>...> make_tuple(T &&...x) {
  return tuple<decay_t<T>...>(Std::forward<T>(x)...);
}
template <typename... T> constexpr tuple<T &...> tie(T &...x) noexcept {
  return tuple<T &...>(x...);
}
template <typename... T> constexpr tuple<T &&...> forward_as_tuple(T &&...x) noexcept {
  return tuple<T &&...>(Std::forward<T>(x)...);
}
struct ignore_t {
  constexpr ignore_t() = default;
  template <typename T> constexpr const ignore_t &operator=(const T &) const noexcept { return *this; }
};
constexpr ignore_t ignore{};

/* ---- algorithm, cmath ---- */

template <typename T, typename U> constexpr auto min(const T &a, const U &b) {
  return a < b ? a : b;
}
template <typename T, typename U> constexpr auto max(const T &a, const U &b) {
  return a > b ? a : b;
}
template <typename T> constexpr T abs(const T x) {
  return x < static_cast<T>(0) ? static_cast<T>(-x) : x;
}
template <typename T> inline T sqrt(const T x) {
  return static_cast<T>(acsim_scalar_sqrt(static_cast<float>(x)));
}
template <typename T, typename U> constexpr auto divide(const T &a, const U &b) {
  return a / b;
}
template <typename T, typename U> constexpr auto ceil_division(const T &a, const U &b) {
  return (a + b - 1) / b;
}
template <typename T, typename U> constexpr auto ceil_align(const T &a, const U &b) {
  return Std::ceil_division(a, b) * b;
}
} // namespace Std
} // namespace AscendC

#endif
