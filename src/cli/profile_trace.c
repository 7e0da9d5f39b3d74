/* Traces and pictures of modelled time. */
#include "cli/profile.h"

#include <stdio.h>
#include <stdlib.h>

/* A file in the making, in memory: it is written at once or not at all. */
typedef struct {
  const char *path;
  char *text;
  size_t len;
} page;
static bool no_room(const page *p, ac_diags *d) {
  ac_error(d, AC0106, (ac_loc){.file = p->path}, "no memory for what goes into it");
  return false;
}
static FILE *open_page(page *p, ac_diags *d) {
  FILE *f = open_memstream(&p->text, &p->len);
  if (!f) no_room(p, d);
  return f;
}
static bool close_page(page *p, FILE *f, ac_diags *d) {
  bool whole = !ferror(f);
  whole = !fclose(f) && whole;
  bool ok = whole ? ac_write_file(p->path, p->text, p->len, d) : no_room(p, d);
  free(p->text);
  return ok;
}

/* ---- Chrome's trace event format: complete events (X), metadata (M), flows (s, f); times in microseconds ---- */

static void json_text(FILE *f, const char *s) {
  fputc('"', f);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      fprintf(f, "\\%c", c);
    else if (c < 0x20)
      fprintf(f, "\\u%04x", c);
    else
      fputc(c, f);
  }
  fputc('"', f);
}

static void threads(FILE *f, int core) {
  fprintf(f, "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"core %d (modelled)\"}},\n",
          core, core);
  for (int u = 0; u < AC_PIPE_COUNT; u++)
    fprintf(f,
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}},\n",
            core, u, ac_unit_name((ac_pipe)u), core, u, u);
}

static void event(FILE *f, const ac_sim_time *t, const ac_sim_span *s) {
  fputs("{\"ph\":\"X\",\"name\":", f);
  json_text(f, s->op);
  fprintf(f,
          ",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.5f,\"dur\":%.5f,\"args\":{\"block\":%lld,\"cycles\":%.1f",
          s->wait ? "wait" : "instruction", s->core, (int)s->pipe, s->start / t->mhz, (s->end - s->start) / t->mhz,
          (long long)s->block, s->end - s->start);
  if (s->file) {
    fputs(",\"file\":", f);
    json_text(f, ac_basename(s->file));
    fprintf(f, ",\"line\":%d", s->line);
  }
  fputs("}},\n", f);
}

/* From the end of what it waited for to its start. */
static void arrow(FILE *f, const ac_sim_time *t, size_t i) {
  const ac_sim_span *s = &t->spans.data[i];
  if (s->from < 0 || (size_t)s->from >= t->spans.len || s->wait) return;
  const ac_sim_span *from = &t->spans.data[s->from];
  for (int end = 0; end < 2; end++) {
    const ac_sim_span *x = end ? s : from;
    double at = end ? x->start : x->end - (x->end - x->start) * 1e-3; /* inside the slice, which the arrow binds to */
    fprintf(f, "{\"ph\":\"%s\",\"id\":%zu,\"cat\":\"event\",\"name\":", end ? "f" : "s", i);
    json_text(f, *s->edge ? s->edge : "order");
    fprintf(f, ",\"pid\":%d,\"tid\":%d,\"ts\":%.5f%s},\n", x->core, (int)x->pipe, at / t->mhz,
            end ? ",\"bp\":\"e\"" : "");
  }
}

bool ac_profile_trace(const char *path, const char *name, const ac_sim_time *t, ac_diags *d) {
  page p = {.path = path};
  FILE *f = open_page(&p, d);
  if (!f) return false;
  fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"class\":\"modelled\",\"operator\":", f);
  json_text(f, name);
  fprintf(f, ",\"mhz\":\"%.0f\",\"dropped\":\"%lld\"},\n\"traceEvents\":[\n", t->mhz, (long long)t->spans_dropped);
  bool seen[1024] = {false};
  for (size_t i = 0; i < t->spans.len; i++) {
    const ac_sim_span *s = &t->spans.data[i];
    if (s->core >= 0 && s->core < 1024 && !seen[s->core]) seen[s->core] = true, threads(f, s->core);
    event(f, t, s);
    arrow(f, t, i);
  }
  fputs("{\"ph\":\"M\",\"pid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":\"modelled, not measured\"}}\n]}\n",
        f);
  return close_page(&p, f, d);
}

/* ---- a picture ---- */

enum { PLOT_CORES = 4, PLOT_WIDTH = 1200, PLOT_LEFT = 110, PLOT_ROW = 18, PLOT_TOP = 46 };
static const char *const colours[AC_PIPE_COUNT] = {"#9aa0a6", "#3367d6", "#a142f4", "#f29900",
                                                   "#188038", "#d93025", "#129eaf"};

/* What of a unit's work lies side by side is one rectangle at the picture's resolution. */
typedef struct {
  FILE *f;
  double scale;
  int y;
  const char *colour;
  double from, to;
} bar;
static void put_bar(bar *b) {
  if (b->to > b->from)
    fprintf(b->f, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>\n",
            PLOT_LEFT + b->from * b->scale, b->y, (b->to - b->from) * b->scale, PLOT_ROW - 4, b->colour);
}
/* From top to bottom: the way of the data. */
static const ac_pipe rows[AC_PIPE_COUNT] = {AC_PIPE_S, AC_PIPE_MTE2, AC_PIPE_MTE1, AC_PIPE_M,
                                            AC_PIPE_V, AC_PIPE_FIX,  AC_PIPE_MTE3};
static void unit_row(FILE *f, const ac_sim_time *t, int core, int unit, int y, double scale) {
  bar b = {f, scale, y, colours[unit], 0, 0};
  for (size_t i = 0; i < t->spans.len; i++) {
    const ac_sim_span *s = &t->spans.data[i];
    if (s->core != core || (int)s->pipe != unit || s->wait) continue;
    if ((s->start - b.to) * scale > 0.15) {
      put_bar(&b);
      b.from = s->start;
    }
    if (s->end > b.to) b.to = s->end;
  }
  put_bar(&b);
}

static bool unit_used(const ac_sim_time *t, int unit) {
  for (size_t i = 0; i < t->spans.len; i++)
    if ((int)t->spans.data[i].pipe == unit && !t->spans.data[i].wait) return true;
  return false;
}

static void escaped(FILE *f, const char *s) {
  for (; *s; s++) {
    if (*s == '<')
      fputs("&lt;", f);
    else if (*s == '&')
      fputs("&amp;", f);
    else
      fputc(*s, f);
  }
}

static void axis(FILE *f, const ac_sim_time *t, double last, double scale, int y) {
  double step = 1e-3;
  for (int k = 0; last / t->mhz / step > 12; k++) step *= k % 3 == 1 ? 2.5 : 2; /* 1, 2, 5, 10 ... */
  for (double us = 0; us * t->mhz <= last; us += step)
    fprintf(f,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">%.4g</text>\n",
            PLOT_LEFT + us * t->mhz * scale, PLOT_LEFT + us * t->mhz * scale, PLOT_TOP - 6, y,
            PLOT_LEFT + us * t->mhz * scale, y + 14, us);
}

bool ac_profile_plot(const char *path, const char *name, const ac_sim_time *t, ac_diags *d) {
  int cores[PLOT_CORES], n = 0, units = 0;
  double last = 1;
  for (size_t i = 0; i < t->spans.len; i++) {
    const ac_sim_span *s = &t->spans.data[i];
    int k = 0;
    while (k < n && cores[k] != s->core) k++;
    if (k == n && n < PLOT_CORES) cores[n++] = s->core;
    if (k < n && s->end > last) last = s->end;
  }
  for (int u = 0; u < AC_PIPE_COUNT; u++) units += unit_used(t, u);
  page p = {.path = path};
  FILE *f = open_page(&p, d);
  if (!f) return false;
  int height = PLOT_TOP + n * (units * PLOT_ROW + 10) + 40;
  double scale = (PLOT_WIDTH - PLOT_LEFT - 20) / last;
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"10\" y=\"20\" font-size=\"14\">",
          PLOT_WIDTH, height);
  escaped(f, name);
  fputs(": modelled time in microseconds, not measured</text>\n", f);
  int y = PLOT_TOP;
  axis(f, t, last, scale, PLOT_TOP + n * (units * PLOT_ROW + 10));
  for (int k = 0; k < n; k++, y += 10)
    for (int r = 0; r < AC_PIPE_COUNT; r++) {
      int u = (int)rows[r];
      if (!unit_used(t, u)) continue;
      fprintf(f, "<text x=\"10\" y=\"%d\">core %d %s</text>\n", y + PLOT_ROW - 7, cores[k], ac_unit_name((ac_pipe)u));
      unit_row(f, t, cores[k], u, y, scale);
      y += PLOT_ROW;
    }
  fputs("</svg>\n", f);
  return close_page(&p, f, d);
}
