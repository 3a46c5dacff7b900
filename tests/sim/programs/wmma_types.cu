// nvcuda::wmma with tf32, int8 and double: C = A * B + C of one tile, in every shape and layout.
#include <mma.h>

#include <cstdio>
#include <type_traits>
#include <vector>

using namespace nvcuda;
int wrong = 0;
#define EXPECT(holds) \
  if (!(holds)) ++wrong, printf("line %d\n", __LINE__)

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<wmma::precision::tf32> {
  using type = float;
};

// Through shared memory, so that both ways of loading are used.
template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
__global__ void multiply(const typename Stored<T>::type* a, const typename Stored<T>::type* b,
                         Sum* c, wmma::layout_t layout) {
  using Element = typename Stored<T>::type;
  constexpr bool rows_a = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool rows_b = std::is_same_v<LayoutB, wmma::row_major>;
  __shared__ alignas(16) Element tile[N * K];
  for (int i = threadIdx.x; i < N * K; i += 32) tile[i] = b[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  const unsigned ld = layout == wmma::mem_row_major ? N : M;
  wmma::load_matrix_sync(left, a, rows_a ? K : M);      // [load a]
  wmma::load_matrix_sync(right, tile, rows_b ? N : K);  // [load b]
  wmma::load_matrix_sync(sum, c, ld, layout);
  if constexpr (std::is_same_v<T, wmma::precision::tf32>)
    for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
  wmma::mma_sync(sum, left, right, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  wmma::store_matrix_sync(c, sum, ld, layout);
}

template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
void tried(wmma::layout_t layout) {
  using Element = typename Stored<T>::type;
  constexpr bool rows_a = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool rows_b = std::is_same_v<LayoutB, wmma::row_major>;
  constexpr int SHIFT = std::is_unsigned_v<Element> ? 0 : 100, SPAN = 201;
  Element *a, *b;
  Sum* c;
  cudaMallocManaged(&a, M * K * sizeof(Element));
  cudaMallocManaged(&b, K * N * sizeof(Element));
  cudaMallocManaged(&c, M * N * sizeof(Sum));
  const auto at_a = [&](int m, int k) -> Element& { return a[rows_a ? m * K + k : k * M + m]; };
  const auto at_b = [&](int k, int n) -> Element& { return b[rows_b ? k * N + n : n * K + k]; };
  const auto at_c = [&](int m, int n) -> Sum& {
    return c[layout == wmma::mem_row_major ? m * N + n : n * M + m];
  };
  for (int k = 0; k < K; ++k) {
    for (int m = 0; m < M; ++m) at_a(m, k) = Element((m * 37 + k * 59) % SPAN - SHIFT);
    for (int n = 0; n < N; ++n) at_b(k, n) = Element((n * 83 + k * 19 + 7) % SPAN - SHIFT);
  }
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) at_c(m, n) = Sum(m * 3 - n);
  multiply<M, N, K, T, Sum, LayoutA, LayoutB><<<1, 32>>>(a, b, c, layout);
  cudaDeviceSynchronize();
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double sum = m * 3 - n;
      for (int k = 0; k < K; ++k) sum += double(at_a(m, k)) * double(at_b(k, n));
      EXPECT(double(at_c(m, n)) == 2 * sum);
    }
}

template <int M, int N, int K, class T, class Sum>
void all_layouts() {
  using R = wmma::row_major;
  using C = wmma::col_major;
  tried<M, N, K, T, Sum, R, R>(wmma::mem_row_major);
  tried<M, N, K, T, Sum, R, C>(wmma::mem_col_major);
  tried<M, N, K, T, Sum, C, R>(wmma::mem_col_major);
  tried<M, N, K, T, Sum, C, C>(wmma::mem_row_major);
}

// Sums that leave the range of int: they go round, or stay at its limit.
__global__ void limits(int* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> c, d;
  wmma::fill_fragment(a, 127);
  wmma::fill_fragment(b, 127);
  wmma::fill_fragment(c, 0x7fffffff - 1);
  wmma::mma_sync(d, a, b, c, true);
  out[threadIdx.x] = d.x[0];
  wmma::mma_sync(d, a, b, c);
  out[32 + threadIdx.x] = d.x[7];
}

int main() {
  all_layouts<16, 16, 8, wmma::precision::tf32, float>();
  all_layouts<16, 16, 16, signed char, int>();
  all_layouts<32, 8, 16, signed char, int>();
  all_layouts<8, 32, 16, signed char, int>();
  all_layouts<16, 16, 16, unsigned char, int>();
  all_layouts<32, 8, 16, unsigned char, int>();
  all_layouts<8, 32, 16, unsigned char, int>();
  all_layouts<8, 8, 4, double, double>();
  int* out;
  cudaMallocManaged(&out, 64 * sizeof(int));
  limits<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  EXPECT(out[5] == 0x7fffffff);
  EXPECT(out[37] == int(0x7ffffffeu + 16 * 127 * 127));
  EXPECT(wmma::__float_to_tf32(1 + 1.0f / 2048) == 1 + 1.0f / 1024);  // halfway: away from zero
  EXPECT(wmma::__float_to_tf32(-1 - 1.0f / 4096) == -1);
  printf(wrong ? "%d wrong\n" : "right\n", wrong);
  return wrong != 0;
}
