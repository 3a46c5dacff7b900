// A program whose main() is called: its launches, each with a result of its own, and its end.
#pragma once
#include "../../include/gemmlab_sim/abi.h"
#include "session.h"

namespace sim {

// Where a launch's counts and findings are to go: of a program, those of equal launches together.
Results& results_of(const SimLaunch& launch);
// Remembers that a launch of a program was refused, for last_error's reason.
void note_refusal(const SimLaunch& launch, int error);
// Prints what a program's kernel has printed.
void end_launch();
// A program that was cancelled launches nothing more: this ends it.
void stop_cancelled_program();

}  // namespace sim
