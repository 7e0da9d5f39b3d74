/* .npy files: a strict reader of the header's dictionary, and a writer. */
#include "cli/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the header: a Python dictionary of three keys ---- */

typedef struct {
  const char *p, *end;
  ac_arena *a;
  const char *file;
  ac_diags *d;
  ac_npy *h;
  bool fortran, has_descr, has_order, has_shape;
} reader;

static bool bad(reader *r, const char *what) {
  ac_error(r->d, AC0810, (ac_loc){.file = r->file}, "its header is damaged: %s", what);
  return false;
}
static void spaces(reader *r) {
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')) r->p++;
}
static bool eat(reader *r, char c) {
  spaces(r);
  if (r->p == r->end || *r->p != c) return false;
  r->p++;
  return true;
}
static char *string(reader *r) {
  spaces(r);
  if (r->p == r->end || (*r->p != '\'' && *r->p != '"')) return NULL;
  char quote = *r->p++;
  const char *s = r->p;
  while (r->p < r->end && *r->p != quote && *r->p != '\\' && *r->p) r->p++;
  if (r->p == r->end || *r->p != quote) return NULL;
  return ac_strndup(r->a, s, (size_t)(r->p++ - s));
}
static bool word(reader *r, const char *w) {
  size_t n = strlen(w);
  spaces(r);
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, w, n) != 0) return false;
  r->p += n;
  return true;
}
static bool number(reader *r, int64_t *v) {
  spaces(r);
  const char *s = r->p;
  *v = 0;
  while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
    if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, *r->p++ - '0', v)) return false;
  if (r->p < r->end && *r->p == 'L') r->p++; /* written by Python 2 */
  return r->p > s;
}

static const struct {
  const char *code;
  ac_dtype dtype;
} codes[] = {{"f2", AC_F16}, {"f4", AC_F32}, {"f8", AC_F64}, {"i1", AC_I8},  {"i2", AC_I16}, {"i4", AC_I32},
             {"i8", AC_I64}, {"u1", AC_U8},  {"u2", AC_U16}, {"u4", AC_U32}, {"u8", AC_U64}, {"b1", AC_BOOL}};

static bool descr(reader *r) {
  char *s = string(r);
  if (!s) {
    ac_diag *x = ac_error(r->d, AC0810, (ac_loc){.file = r->file}, "it holds records, not numbers of one type");
    ac_help(r->d, x, "save one field: np.save(path, array['field'])");
    return false;
  }
  const char *code = strchr("<>|=", *s) && *s ? s + 1 : s;
  if (*s == '>' && strcmp(code + 1, "1") != 0) {
    ac_diag *x = ac_error(r->d, AC0810, (ac_loc){.file = r->file}, "its elements ('%s') are big-endian", s);
    ac_help(r->d, x, "save it as array.astype(array.dtype.newbyteorder('<'))");
    return false;
  }
  for (size_t i = 0; i < AC_COUNT(codes); i++)
    if (!strcmp(codes[i].code, code)) {
      r->h->dtype = codes[i].dtype;
      r->h->item = ac_dtypes[codes[i].dtype].bytes;
      return true;
    }
  if (!strcmp(code, "V2")) {
    r->h->dtype = AC_NODTYPE;
    r->h->item = 2;
    return true;
  }
  ac_diag *x = ac_error(r->d, AC0810, (ac_loc){.file = r->file}, "its elements ('%s') are no numbers of a device", s);
  ac_help(r->d, x,
          "float16, float32, float64, bool, and integers of 8 to 64 bits are; convert it: array.astype('float32')");
  return false;
}

static bool shape(reader *r) {
  if (!eat(r, '(')) return bad(r, "'shape' is no tuple");
  while (!eat(r, ')')) {
    if (r->h->rank == AC_NPY_RANK) return bad(r, "more than 16 dimensions");
    if (!number(r, &r->h->shape[r->h->rank])) return bad(r, "a dimension that is no number");
    r->h->rank++;
    if (eat(r, ',')) continue;
    if (!eat(r, ')')) return bad(r, "'shape' has no end");
    return true;
  }
  return true;
}

static bool entry(reader *r) {
  char *key = string(r);
  if (!key || !eat(r, ':')) return bad(r, "no key where one is due");
  bool *seen = !strcmp(key, "descr")           ? &r->has_descr
               : !strcmp(key, "fortran_order") ? &r->has_order
               : !strcmp(key, "shape")         ? &r->has_shape
                                               : NULL;
  if (!seen || *seen) return bad(r, seen ? "a key stands twice" : "an unknown key");
  *seen = true;
  if (seen == &r->has_descr) return descr(r);
  if (seen == &r->has_shape) return shape(r);
  if (word(r, "False")) return true;
  r->fortran = true;
  return word(r, "True") || bad(r, "'fortran_order' is neither True nor False");
}

static bool dictionary(reader *r) {
  if (!eat(r, '{')) return bad(r, "no '{'");
  while (!eat(r, '}')) {
    if (!entry(r)) return false;
    if (eat(r, ',')) continue;
    if (!eat(r, '}')) return bad(r, "no '}'");
    break;
  }
  spaces(r);
  if (r->p != r->end) return bad(r, "text behind the '}'");
  return (r->has_descr && r->has_order && r->has_shape) || bad(r, "a key is missing");
}

static bool sizes(reader *r, int64_t size) {
  ac_npy *h = r->h;
  int wide = 0;
  h->bytes = h->item;
  bool zero = false;
  for (int i = 0; i < h->rank; i++) wide += h->shape[i] != 1, zero |= !h->shape[i];
  for (int i = 0; i < h->rank && !zero; i++)
    if (__builtin_mul_overflow(h->bytes, h->shape[i], &h->bytes)) return bad(r, "more elements than any file holds");
  if (zero) h->bytes = 0;
  if (r->fortran && wide > 1 && !zero) {
    ac_diag *x = ac_error(r->d, AC0810, (ac_loc){.file = r->file}, "its elements are in Fortran order");
    ac_help(r->d, x, "save it as np.ascontiguousarray(array)");
    return false;
  }
  if (h->bytes == size - h->offset) return true;
  ac_error(r->d, AC0810, (ac_loc){.file = r->file}, "its header promises %lld bytes of elements, %lld follow",
           (long long)h->bytes, (long long)(size - h->offset));
  return false;
}

bool ac_npy_header(ac_arena *a, const char *file, const void *p, size_t n, int64_t size, ac_npy *h, ac_diags *d) {
  const uint8_t *u = p;
  reader r = {.a = a, .file = file, .d = d, .h = h};
  *h = (ac_npy){0};
  if (n < 10 || memcmp(u, "\x93NUMPY", 6) != 0) {
    ac_diag *x = ac_error(d, AC0810, (ac_loc){.file = file}, "it does not begin as .npy files do");
    if (n >= 4 && !memcmp(u, "PK\x03\x04", 4)) ac_help(d, x, "an .npz archive: save the array with np.save");
    return false;
  }
  if (u[6] < 1 || u[6] > 3) {
    ac_error(d, AC0810, (ac_loc){.file = file}, "version %d of the format; 1 to 3 are known", u[6]);
    return false;
  }
  size_t start = u[6] == 1 ? 10 : 12;
  size_t len = n < start   ? 0
               : u[6] == 1 ? (size_t)u[8] | (size_t)u[9] << 8
                           : (size_t)u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16 | (size_t)u[11] << 24;
  if (n < start || len > n - start)
    return bad(&r, len > AC_NPY_HEADER ? "it claims to be longer than 64 KiB" : "the file ends in it");
  h->offset = (int64_t)(start + len);
  r.p = (const char *)u + start;
  r.end = r.p + len;
  return dictionary(&r) && sizes(&r, size);
}

/* ---- files ---- */

static bool no_read(const char *path, ac_diags *d) {
  ac_error(d, AC0101, (ac_loc){.file = path}, "%s", strerror(errno));
  return false;
}

/* Reads n bytes, or fewer at the end of the file; -1 with errno. */
static ssize_t read_all(int fd, void *to, size_t n, off_t at) {
  size_t got = 0;
  while (got < n) {
    ssize_t k = pread(fd, (char *)to + got, n - got, at + (off_t)got);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return -1;
    if (k == 0) break;
    got += (size_t)k;
  }
  return (ssize_t)got;
}

static bool as_dtype(const char *path, ac_dtype dtype, ac_npy *h, ac_diags *d) {
  if (dtype == AC_NODTYPE && h->dtype != AC_NODTYPE) return true;
  if (dtype == AC_NODTYPE) {
    ac_diag *x = ac_error(d, AC0810, (ac_loc){.file = path}, "its elements are two raw bytes each, of no known type");
    ac_help(d, x, "say what they are: %s:bfloat16", path);
    return false;
  }
  if (ac_dtypes[dtype].bytes != h->item) {
    ac_error(d, AC0810, (ac_loc){.file = path}, "its elements have %d bytes, those of %s have %d", h->item,
             ac_dtypes[dtype].name, ac_dtypes[dtype].bytes);
    return false;
  }
  h->dtype = dtype;
  return true;
}

bool ac_npy_open(ac_arena *a, const char *path, ac_dtype dtype, ac_npy *h, ac_diags *d) {
  struct stat st;
  if (stat(path, &st)) return no_read(path, d);
  if (!S_ISREG(st.st_mode)) { /* to open a pipe is to wait for whoever writes into it */
    ac_diag *x = ac_error(d, AC0101, (ac_loc){.file = path}, "it is no regular file%s",
                          S_ISFIFO(st.st_mode) ? " but a pipe" : "");
    ac_help(d, x, "save the array as a file first: .npy files are not read from pipes and devices");
    return false;
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return no_read(path, d);
  size_t most = AC_NPY_HEADER + 12;
  char *head = ac_alloc(a, most);
  ssize_t n = read_all(fd, head, most, 0);
  bool ok = n >= 0 || no_read(path, d);
  close(fd);
  return ok && ac_npy_header(a, path, head, (size_t)n, st.st_size, h, d) && as_dtype(path, dtype, h, d);
}

bool ac_npy_load(const char *path, const ac_npy *h, void *to, ac_diags *d) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return no_read(path, d);
  ssize_t n = read_all(fd, to, (size_t)h->bytes, (off_t)h->offset);
  bool ok = n == (ssize_t)h->bytes;
  if (n < 0) {
    no_read(path, d);
  } else if (!ok) {
    ac_error(d, AC0810, (ac_loc){.file = path}, "it became shorter while it was read");
  }
  close(fd);
  return ok;
}

/* ---- writing ---- */

static const char *code_of(ac_dtype d) {
  for (size_t i = 0; i < AC_COUNT(codes); i++)
    if (codes[i].dtype == d) return codes[i].code;
  return "u2"; /* bfloat16 */
}

static char *header_text(ac_arena *a, ac_dtype dtype, int rank, const int64_t *dims, size_t *len) {
  ac_buf b;
  ac_buf_init(&b, a);
  const char *code = code_of(dtype);
  ac_printf(&b, "{'descr': '%s%s', 'fortran_order': False, 'shape': (", code[1] == '1' ? "|" : "<", code);
  for (int i = 0; i < rank; i++) ac_printf(&b, i ? ", %lld" : "%lld", (long long)dims[i]);
  ac_puts(&b, rank == 1 ? ",), }" : "), }");
  while ((10 + b.len + 1) % 64) ac_puts(&b, " "); /* so that the data is aligned */
  ac_puts(&b, "\n");
  char *all = ac_alloc(a, 10 + b.len);
  static const uint8_t magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  memcpy(all, magic, sizeof magic);
  all[8] = (char)(b.len & 0xff);
  all[9] = (char)(b.len >> 8);
  memcpy(all + 10, b.data, b.len);
  *len = 10 + b.len;
  return all;
}

bool ac_npy_save(ac_arena *a, const char *path, ac_dtype dtype, int rank, const int64_t *dims, const void *data,
                 ac_diags *d) {
  int64_t bytes = ac_dtypes[dtype].bytes;
  for (int i = 0; i < rank; i++) bytes *= dims[i];
  ac_piece p[2] = {{NULL, 0}, {data, (size_t)bytes}};
  p[0].data = header_text(a, dtype, rank, dims, &p[0].len);
  return ac_write_pieces(path, p, 2, d);
}
