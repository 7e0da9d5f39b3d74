#include "craft/sketch.h"
void ac_sk_prove(ac_sketch *s, ac_verdicts *v) {
  (void)s;
  (void)v;
}
