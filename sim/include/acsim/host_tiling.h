/* Host side, part 3: tiling data through the BEGIN_TILING_DATA_DEF macros.
 *
 * Layout rule (CANN's register/tilingdata_base.h): each field at its natural alignment, a nested struct at 8, the whole rounded
 * up to 8 bytes. alignas(8) on the generated kernel-side struct gives the same layout. */
#ifndef ACSIM_HOST_TILING_H
#define ACSIM_HOST_TILING_H

#include "acsim/host_types.h"
#include "securec.h"

namespace optiling {
struct FieldInfo {
  const char *dtype_, *name_;
  size_t arrSize_;         /* 0: a scalar */
  const char *structType_; /* nested, or NULL */
};

class TilingDef {
public:
  TilingDef() = default;
  TilingDef(const TilingDef &) = delete;
  TilingDef &operator=(const TilingDef &) = delete;
  ~TilingDef() {
    if (owned_) ::free(data_ptr_);
  }
  void SaveToBuffer(void *to, size_t capacity) {
    if (to && data_ptr_ && capacity >= data_size_)
      ::memmove(to, data_ptr_, data_size_);
    else
      ::fprintf(stderr, "tiling data needs %zu bytes, the buffer has %zu\n", data_size_, capacity);
  }
  const acsim_host::list<FieldInfo> &GetFieldInfo() const { return fields_; }
  const char *GetTilingClassName() const { return class_name_; }
  size_t GetDataSize() const { return data_size_; }
  void SetDataPtr(void *p) {
    if (owned_) ::free(data_ptr_);
    owned_ = false;
    data_ptr_ = static_cast<uint8_t *>(p);
    for (size_t i = 0; i < nested_.size(); i++) nested_[i].def->SetDataPtr(data_ptr_ + nested_[i].offset);
  }

protected:
  size_t acsim_field(const FieldInfo &f, size_t align, size_t bytes) {
    data_size_ = (data_size_ + align - 1) / align * align;
    size_t at = data_size_;
    data_size_ += bytes;
    fields_.add(f);
    return at;
  }
  size_t acsim_nested(const FieldInfo &f, TilingDef *def) {
    size_t at = acsim_field(f, 8, def->data_size_);
    nested_.add({def, at});
    return at;
  }
  void acsim_finish(const char *name, void *at) {
    class_name_ = name;
    data_size_ = (data_size_ + 7) / 8 * 8;
    if (at) {
      SetDataPtr(at);
    } else {
      void *p = ::calloc(1, data_size_ ? data_size_ : 1);
      if (!p) ::abort();
      SetDataPtr(p);
      owned_ = true;
    }
  }
  uint8_t *data_ptr_ = nullptr;
  size_t data_size_ = 0;

private:
  struct nested {
    TilingDef *def;
    size_t offset;
  };
  acsim_host::list<FieldInfo> fields_;
  acsim_host::list<nested> nested_;
  const char *class_name_ = "";
  bool owned_ = false;
};
} // namespace optiling

namespace acsim_host {
/* Registered tiling classes, in order of registration (a nested struct comes before its user). */
struct tiling_class {
  const char *op, *name;
  void (*visit)(void (*)(const optiling::TilingDef &, void *), void *);
  tiling_class *next;
};
inline tiling_class *tiling_first = nullptr, **tiling_last = &tiling_first;
template <class T> void tiling_visit(void (*f)(const optiling::TilingDef &, void *), void *user) {
  T t;
  f(t, user);
}
struct tiling_register {
  tiling_class node;
  tiling_register(const char *op, const char *name, void (*v)(void (*)(const optiling::TilingDef &, void *), void *))
      : node{op, name, v, nullptr} {
    *tiling_last = &node;
    tiling_last = &node.next;
  }
};
} // namespace acsim_host

#define BEGIN_TILING_DATA_DEF(class_name)                \
  class class_name : public optiling::TilingDef {        \
  public:                                                \
    class_name() { acsim_finish(#class_name, nullptr); } \
    explicit class_name(void *at) { acsim_finish(#class_name, at); }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                            \
public:                                                                         \
  void set_##field_name(data_type field_name) {                                 \
    ::memcpy(data_ptr_ + field_name##_offset_, &field_name, sizeof(data_type)); \
  }                                                                             \
  data_type get_##field_name() {                                                \
    data_type acsim_v;                                                          \
    ::memcpy(&acsim_v, data_ptr_ + field_name##_offset_, sizeof(data_type));    \
    return acsim_v;                                                             \
  }                                                                             \
                                                                                \
private:                                                                        \
  size_t field_name##_offset_ =                                                 \
      acsim_field({#data_type, #field_name, 0, nullptr}, sizeof(data_type), sizeof(data_type));

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                           \
public:                                                                                     \
  void set_##field_name(arr_type *field_name) {                                             \
    ::memmove(data_ptr_ + field_name##_offset_, field_name, (arr_size) * sizeof(arr_type)); \
  }                                                                                         \
  arr_type *get_##field_name() {                                                            \
    return reinterpret_cast<arr_type *>(data_ptr_ + field_name##_offset_);                  \
  }                                                                                         \
                                                                                            \
private:                                                                                    \
  size_t field_name##_offset_ =                                                             \
      acsim_field({#arr_type, #field_name, (arr_size), nullptr}, sizeof(arr_type), (arr_size) * sizeof(arr_type));

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) \
public:                                                       \
  struct_type field_name;                                     \
                                                              \
private:                                                      \
  size_t field_name##_offset_ = acsim_nested({"struct", #field_name, 0, #struct_type}, &field_name);

#define END_TILING_DATA_DEF \
  }                         \
  ;

#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                                            \
  namespace {                                                                                                      \
  static acsim_host::tiling_register acsim_tiling_##op_type##_##class_name(#op_type, #class_name,                  \
                                                                           &acsim_host::tiling_visit<class_name>); \
  }
#endif
