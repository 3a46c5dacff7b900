// The dynamic shared array. Linked only into kernels that declare it, as
// `extern __shared__ unsigned char smem[];`: it then is part of their own segment.
//
// It begins at an odd multiple of ALIGNMENT, which is what the kernel has declared: a GPU, which
// puts it behind the static arrays, promises no more.
        .section .tbss, "awT", %nobits
        .balign 2 * ALIGNMENT
        .skip ALIGNMENT
        .globl smem
        .hidden smem
        .type smem, %object
        .size smem, 232448
smem:
        .skip 232448

        .section .note.GNU-stack, "", %progbits
