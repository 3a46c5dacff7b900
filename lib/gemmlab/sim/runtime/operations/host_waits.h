// Kernels that wait for a change of memory which the host may write, too.
//
// On a device the host goes on while the kernel waits; here it does once the kernel was given up.
// If the host then waits for the device, or ends, and has not changed the memory, nobody does.
#pragma once
#include "order/findings.h"
#include "polling.h"

namespace sim {

struct Results;

// A thread of the running grid waits so; `deadlock` is what that is if the host changes nothing.
// Until then it counts as not simulated, at the same place.
void note_host_wait(const Read& read, const Finding& deadlock);
// The grid has ended, with these results, which stay where they are.
void keep_host_waits(Results& results);
// The host waits for the device, or gives back memory, or ends.
void settle_host_waits();
void forget_host_waits();

}  // namespace sim
