/* CANN has this header here. The Matmul library is not modelled: kernels that include it and do not use it compile. */
#pragma once
#include "kernel_operator.h"
