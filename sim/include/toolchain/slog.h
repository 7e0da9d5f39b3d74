/* CANN has this header here; ours is one of the parts under acsim/. */
#pragma once
#include "acsim/host_slog.h"
