/* CANN has this header here; ours is one of the parts under acsim/. */
#pragma once
#ifdef ACSIM_TILING_PLAIN
#include "acsim/tiling_plain.h"
#else
#include "acsim/host_library.h"
#endif
