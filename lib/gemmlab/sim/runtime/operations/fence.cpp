// Fences towards the copy engine and the tensor cores (PTX ISA, "fence", "Proxies").
#include "../../include/gemmlab_sim/abi_async.h"
#include "mbarrier.h"
#include "engine/worker.h"

extern "C" {

void sim_fence_mbarrier_init() {
  sim::Fiber& fiber = *sim::running_fiber();
  fiber.worker->state<sim::Mbarriers>().fence(fiber.slot);
}

void sim_fence_proxy_async() {
  sim::Fiber& fiber = *sim::running_fiber();
  if (fiber.worker->launch().traced) fiber.worker->clocks().fence(fiber);
}

}  // extern "C"
