// Teams of blocks that begin a wave of tiles together.
#pragma once
#include "last_wave.cuh"

// Waves that begin together: in a few, teams do not come far apart.
__host__ __device__ inline int steps(const LastWave& share) {
  return share.waves < 8 ? 0 : share.waves;
}

// One thread of each team counts its team in and waits for the others. Teams that another kernel
// keeps from running would be waited for in vain: it is about speed only, so after some thousand
// looks the thread goes on.
__device__ inline void come_together(int* come, int teams) {
  atomicAdd(come, 1);
  for (int looks = 0; looks < 4096 && *static_cast<volatile int*>(come) < teams; ++looks) {
  }
}
