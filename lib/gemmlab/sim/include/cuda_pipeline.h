// Stand-in for CUDA's header of this name: the primitives, without the class built on them.
#pragma once
#include "cuda_pipeline_primitives.h"
