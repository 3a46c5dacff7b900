"""What the simulator's findings say: one sentence for each kind of mistake."""
