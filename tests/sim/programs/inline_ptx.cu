// Inline PTX as programs write it: constraints, groups, predicates, loops, several instructions in
// a statement, in functions and in macros.
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>

#define CP_ASYNC(dst, src, bytes)                                     \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" \
               :                                                      \
               : "r"(dst), "l"(src), "n"(bytes))

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  uint32_t address;
  asm("{ .reg .u64 wide;\n"
      "  cvta.to.shared.u64 wide, %1;\n"
      "  cvt.u32.u64 %0, wide; }\n"
      : "=r"(address)
      : "l"(pointer));
  return address;
}

// C = A * B of 16x8x16, by one warp.
__global__ void product(const half* a, const half* b, float* c) {
  __shared__ alignas(128) half tile_a[16 * 16];
  __shared__ alignas(128) half tile_b[8 * 16];
  const int lane = threadIdx.x;
  CP_ASYNC(static_cast<uint32_t>(__cvta_generic_to_shared(&tile_a[lane * 8])), a + lane * 8, 16);
  if (lane < 16) CP_ASYNC(shared_address(&tile_b[lane * 8]), b + lane * 8, 16);
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
  __syncwarp();  // [landed]
  uint32_t ra[4], rb[2];
  asm volatile(  // [ldmatrix]
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
      : "r"(shared_address(&tile_a[lane % 16 * 16 + lane / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];\n"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(shared_address(&tile_b[lane % 8 * 16 + lane / 8 % 2 * 8])));
  float sum[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  float* const place = c + lane / 4 * 8 + lane % 4 * 2;
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(place), "f"(sum[0]), "f"(sum[1]));
  asm volatile("st.global.cs.v2.f32 [%0+256], {%1, %2};" ::"l"(place), "f"(sum[2]), "f"(sum[3]));
}

// A producer's thread hands a number to all others, by an mbarrier.
__global__ void handed(int* out) {
  __shared__ uint64_t barrier;
  __shared__ int box;
  const uint32_t bar = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared_address(&box)), "r"(42) : "memory");
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(bar));
  }
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@complete bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(bar),
      "r"(0));
  int value;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(shared_address(&box)));
  out[threadIdx.x] = value;
}

__global__ void numbers(int* out, const int* in) {
  int lane, power, larger, bits, word, packed, distance;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  // A loop with a label, by a predicate that is negated, too.
  asm volatile(
      "{ .reg .pred p; .reg .b32 i<2>;\n"
      "mov.u32 i0, 0; mov.u32 i1, 1;\n"
      "again: setp.ge.s32 p, i0, %1;\n"
      "@!p shl.b32 i1, i1, 1;\n"
      "@!p add.s32 i0, i0, 1;\n"
      "@!p bra again;\n"
      "mov.u32 %0, i1; }"
      : "=r"(power)
      : "r"(lane % 8));
  asm("{ .reg .pred q; setp.gt.s32 q, %1, %2; selp.s32 %0, %1, %2, q; }"
      : "=r"(larger)
      : "r"(lane), "r"(-3));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(bits) : "r"(lane), "r"(lane >> 1), "r"(5));
  asm("ld.global.nc.L1::no_allocate.s32 %[value], [%[from]];"
      : [value] "=r"(word)
      : [from] "l"(in));
  asm("{ .reg .b16 low, high; cvt.rn.f16.f32 low, %1; cvt.rn.f16.f32 high, %2;"
      " mov.b32 %0, {low, high}; }"
      : "=r"(packed)
      : "f"(1.5f), "f"(float(lane)));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
      : "=r"(distance)
      : "r"(0x010300ff), "r"(0x02010000), "r"(7));
  float two = 2.0f, power_of_two;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power_of_two) : "f"(two));
  asm volatile("red.global.add.s32 [%0], %1;" ::"l"(out + 32 * 6), "r"(1) : "memory");
  const half2 halves = *reinterpret_cast<half2*>(&packed);
  const int all[] = {
      power, larger, bits, word, int(float(halves.x) * 2 + float(halves.y)), int(power_of_two)};
  for (int i = 0; i < 6; ++i) out[i * 32 + lane] = all[i];
  out[7 * 32 + lane] = distance;
}

static int expect(bool holds, const char* what) {
  if (!holds) printf("wrong: %s\n", what);
  return !holds;
}

int main() {
  half *a, *b;
  float* c;
  int *out, *in;
  cudaMallocManaged(&in, sizeof(int));
  *in = 42;
  cudaMallocManaged(&a, 16 * 16 * 2);
  cudaMallocManaged(&b, 8 * 16 * 2);
  cudaMallocManaged(&c, 16 * 8 * 4);
  cudaMallocManaged(&out, 8 * 32 * 4);
  for (int i = 0; i < 256; ++i) a[i] = i * 7 % 5 - 2;
  for (int i = 0; i < 128; ++i) b[i] = i * 3 % 7 - 3;
  for (int i = 0; i < 7 * 32; ++i) out[i] = 0;
  product<<<1, 32>>>(a, b, c);
  int wrong = 0;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += float(a[m * 16 + k]) * float(b[n * 16 + k]);
      wrong += c[m * 8 + n] != sum;
    }
  int failed = expect(wrong == 0, "product");
  handed<<<1, 64>>>(out);
  failed += expect(out[0] == 42 && out[63] == 42, "handed");
  numbers<<<1, 32>>>(out, in);  // [launch]
  failed += expect(out[6] == 64 && out[31] == 128, "a loop");
  failed += expect(out[32] == 0 && out[63] == 31, "selp");
  failed += expect(out[64 + 9] == (9 ^ 4 ^ 5), "lop3");
  failed += expect(out[96] == 42, "ld.global");
  failed += expect(out[128 + 4] == 7, "cvt and mov");
  failed += expect(out[160] == 4, "ex2");
  failed += expect(out[192] == 32, "red");
  failed += expect(out[224] == 7 + 1 + 2 + 255, "vabsdiff4");
  if (!failed) printf("right\n");
  return failed;
}
