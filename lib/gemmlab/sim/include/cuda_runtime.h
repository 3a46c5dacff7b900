// Stand-in for CUDA's header of this name, found first on the include path of the simulator: just
// enough CUDA C++ for a C++ compiler to accept a kernel file unchanged.
#pragma once
#include <math.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "assert.h"

#include "gemmlab_sim/qualifiers.h"
#include "gemmlab_sim/vector_types.h"
#include "gemmlab_sim/thread.h"
#include "gemmlab_sim/warp.h"
#include "gemmlab_sim/atomics.h"
#include "gemmlab_sim/math.h"
#include "gemmlab_sim/intrinsics.h"
#include "gemmlab_sim/launch.h"
#include "gemmlab_sim/host_memory.h"
#include "gemmlab_sim/host_device.h"
#include "gemmlab_sim/driver.h"
#ifdef GEMMLAB_PROGRAM
#include "gemmlab_sim/host_queries.h"
#include "gemmlab_sim/textures.h"
#include "gemmlab_sim/elsewhere.h"
#include "gemmlab_sim/graphs.h"
#include "gemmlab_sim/rounded.h"
#endif
