/* CANN has this header here; the simulator keeps it in one place. */
#pragma once
#include "kernel_operator.h"
