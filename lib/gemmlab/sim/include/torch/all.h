// Stand-in for the PyTorch header of this name.
#pragma once
#include <torch/extension.h>
