// The start of the segment with a kernel's __shared__ arrays, linked before them: its address is a
// multiple of what any array may ask for, so that only their places decide how they are aligned.
// The first array is not at the start, where it would be aligned better than it has declared.
// 128 bytes are all banks once: a kernel's bank conflicts do not depend on them.
        .section .tbss, "awT", %nobits
        .balign 2048
        .skip 128

        .section .note.GNU-stack, "", %progbits
