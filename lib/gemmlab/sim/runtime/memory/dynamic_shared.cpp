// The dynamic shared array. Linked only into kernels that declare it, as
// `extern __shared__ unsigned char smem[];`: it then is part of their own segment.
alignas(1024) thread_local unsigned char smem[232448];
