/* CANN has this header here; ours is one of the parts under acsim/. */
#pragma once
#ifdef ACSIM_TILING_PLAIN /* on the kernel's side, where the fields are what counts */
#include "acsim/tiling_plain.h"
#else
#include "acsim/host_tiling.h"
#endif
