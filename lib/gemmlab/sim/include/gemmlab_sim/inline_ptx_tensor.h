// Of inline PTX: matrices, tensor cores, mbarriers and the copy engine. All of it is what
// kernels/ptx has, with operands in registers.
#pragma once
#include "inline_ptx_registers.h"

namespace gemmlab_ptx {

template <int N, bool Transposed, class A, class... D>
__forceinline__ void ldmatrix(int line, const A& address, D&&... d) {
  static_assert(sizeof...(D) == N, "ldmatrix.xN fills N registers");
  uint32_t r[N];
  gemmlab_ptx::gemmlab_sim::load_matrices(r, get<uint32_t>(address), Transposed, line);
  const uint32_t* loaded = r;
  (put<uint32_t>(d, *loaded++), ...);
}
template <int N, bool Transposed, class A, class... V>
__forceinline__ void stmatrix(int line, const A& address, const V&... v) {
  static_assert(sizeof...(V) == N, "stmatrix.xN stores N registers");
  const uint32_t r[4] = {get<uint32_t>(v)...};
  sim_stmatrix(get<uint32_t>(address), N, Transposed, {r[0], r[1], r[2], r[3]}, line);
}
template <class D, class A>
__forceinline__ void movmatrix(int line, D&& d, const A& a) {
  put<uint32_t>(d, sim_movmatrix(get<uint32_t>(a), line));
}

// mma.sync: registers of D, A, B and C.
template <SimMma Form, class D, class A, class B, class C>
__forceinline__ void mma_f32(int line, D d, A a, B b, C c) {
  uint32_t ra[4] = {}, rb[2] = {};
  std::apply(
      [&](const auto&... r) {
        int i = 0;
        ((ra[i++] = get<uint32_t>(r)), ...);
      },
      a);
  std::apply(
      [&](const auto&... r) {
        int i = 0;
        ((rb[i++] = get<uint32_t>(r)), ...);
      },
      b);
  const auto& [c0, c1, c2, c3] = c;
  float sum[4] = {get<float>(c0), get<float>(c1), get<float>(c2), get<float>(c3)};
  gemmlab_ptx::gemmlab_sim::multiply(Form, sum, {ra[0], ra[1], ra[2], ra[3]}, rb[0], rb[1], line);
  std::apply(
      [&](auto&... r) {
        int i = 0;
        (put<float>(r, sum[i++]), ...);
      },
      d);
}
// With sums of 16 bits, rounded once an instruction.
template <SimMma Form, class D, class A, class B, class C>
__forceinline__ void mma_f16(int line, D d, A a, B b, C c) {
  float sum[4];
  const auto widen = [&](const auto& low, const auto& high) {
    const uint32_t words[2] = {get<uint32_t>(low), get<uint32_t>(high)};
    for (int i = 0; i < 4; ++i) sum[i] = float(__half::of_bits(words[i / 2] >> 16 * (i % 2)));
  };
  std::apply(widen, c);
  mma_f32<Form>(line, std::tie(sum[0], sum[1], sum[2], sum[3]), a, b,
                std::make_tuple(sum[0], sum[1], sum[2], sum[3]));
  auto& [d0, d1] = d;
  put<uint32_t>(d0, uint32_t(__half(sum[0]).bits) | uint32_t(__half(sum[1]).bits) << 16);
  put<uint32_t>(d1, uint32_t(__half(sum[2]).bits) | uint32_t(__half(sum[3]).bits) << 16);
}

// mbarriers. State, which arrivals return, stands for the phase; only its parity is used here.
template <class A, class N>
__forceinline__ void mbarrier_init_at(const A& address, const N& count) {
  mbarrier_init(get<uint32_t>(address), get<uint32_t>(count));
}
template <class A>
__forceinline__ void mbarrier_inval_at(const A& address) {
  mbarrier_inval(get<uint32_t>(address));
}
template <class S, class A, class N = unsigned>
__forceinline__ void mbarrier_arrive_at(S&&, const A& address, const N& count = 1) {
  for (unsigned i = 0; i < get<unsigned>(count); ++i) mbarrier_arrive(get<uint32_t>(address));
}
template <class S, class A, class N>
__forceinline__ void mbarrier_arrive_expect_at(S&&, const A& address, const N& bytes) {
  mbarrier_arrive_expect_tx(get<uint32_t>(address), get<uint32_t>(bytes));
}
template <class A, class N>
__forceinline__ void mbarrier_expect_at(const A& address, const N& bytes) {
  mbarrier_expect_tx(get<uint32_t>(address), get<uint32_t>(bytes));
}
// An address of the cluster's window, as mapa makes it: above the offset stands one more than the
// rank, or nothing for the own block (runtime/memory/shared_memory.h).
template <class S, class A, class N = unsigned>
__forceinline__ void mbarrier_arrive_mapped(S&&, const A& address, const N& count = 1) {
  constexpr unsigned RANK_SHIFT = 24;
  const uint32_t at = get<uint32_t>(address), above = at >> RANK_SHIFT;
  const uint32_t rank = above ? above - 1 : sim_cluster_rank();
  for (unsigned i = 0; i < get<unsigned>(count); ++i)
    mbarrier_arrive_cluster(at & ((1u << RANK_SHIFT) - 1), rank);
}
template <class A, class P>
__forceinline__ void mbarrier_try_wait_at(int line, bool& done, const A& address, const P& parity) {
  done = mbarrier_try_wait(get<uint32_t>(address), get<uint32_t>(parity), line);
}
template <class A>
__forceinline__ void cp_async_mbarrier_arrive(const A& address) {
  cp_async_mbarrier_arrive_noinc(get<uint32_t>(address));
}

template <class I, class N>
__forceinline__ void barrier_sync(int line, const I& number, const N& threads) {
  bar_sync(get<uint32_t>(number), get<uint32_t>(threads), line);
}
template <class I>
__forceinline__ void barrier_sync(int line, const I& number) {
  if (get<uint32_t>(number) == 0) return sim_syncthreads(line);
  bar_sync(get<uint32_t>(number), blockDim.x * blockDim.y * blockDim.z, line);
}
template <class I, class N>
__forceinline__ void barrier_arrive(int line, const I& number, const N& threads) {
  bar_arrive(get<uint32_t>(number), get<uint32_t>(threads), line);
}
template <class N>
__forceinline__ void setmaxnreg(int line, bool increase, const N& registers) {
  sim_setmaxnreg(get<unsigned>(registers), increase, line);
}
template <class S, class M>
__forceinline__ void elect(int line, S&&, bool& elected, const M& mask) {
  elected = sim_elect(get<unsigned>(mask), line);
}
template <SimReduce Operation, class D, class V, class M>
__forceinline__ void redux(int line, D&& d, const V& value, const M& mask) {
  put<uint32_t>(d, sim_reduce(get<unsigned>(mask), get<uint32_t>(value), Operation, line));
}

// The copy engine.
template <class... C>
__forceinline__ SimPlace place_of(const C&... coordinates) {
  return {sizeof...(C), {get<int>(coordinates)...}};
}
template <class M>
__forceinline__ const void* map_of(const M& map) {
  return reinterpret_cast<const void*>(get<uint64_t>(map));
}
template <class D, class M, class B, class... C>
__forceinline__ void tensor_load(const D& to, const M& map, const B& barrier,
                                 const C&... coordinates) {
  sim_tma_load(get<uint32_t>(to), map_of(map), get<uint32_t>(barrier), place_of(coordinates...));
}
template <class D, class M, class B, class R, class... C>
__forceinline__ void tensor_multicast(const D& to, const M& map, const B& barrier, const R& ranks,
                                      const C&... coordinates) {
  sim_tma_load_multicast(get<uint32_t>(to), map_of(map), get<uint32_t>(barrier),
                         place_of(coordinates...), get<uint16_t>(ranks));
}
template <class M, class S, class... C>
__forceinline__ void tensor_store(const M& map, const S& from, const C&... coordinates) {
  sim_tma_store(map_of(map), get<uint32_t>(from), place_of(coordinates...));
}
template <class M>
__forceinline__ void tensor_prefetch(const M& map) {
  tma_prefetch(reinterpret_cast<const CUtensorMap*>(get<uint64_t>(map)));
}
template <class N>
__forceinline__ void bulk_wait_group(const N& groups) {
  sim_bulk_wait(get<unsigned>(groups));
}
template <class N>
__forceinline__ void bulk_wait_group_read(const N& groups) {
  sim_bulk_wait_read(get<unsigned>(groups));
}

// wgmma: its accumulators have to be one array, since the simulator watches them until the wait.
template <class... R>
__forceinline__ auto* one_array(std::tuple<R&...> registers) {
  auto* const first = &std::get<0>(registers);
  auto* const last = &std::get<sizeof...(R) - 1>(registers);
  if (last != first + sizeof...(R) - 1)
    sim_not_simulated(
        "wgmma whose registers are not the elements of one array, in their order | name d[0], d[1] "
        "and "
        "so on of one array");
  return first;
}
template <int N, class T, class D, class P>
__forceinline__ void wgmma(int line, D d, uint64_t a, uint64_t b, const P& accumulate, int sign_a,
                           int sign_b, int trans_a, int trans_b) {
  static_assert(std::tuple_size_v<D> == N / 2, "wgmma.m64nN has N / 2 accumulators a thread");
  if (sign_a != 1 || sign_b != 1)
    sim_not_simulated(
        "wgmma with a negated operand | pass 1 for imm-scale-a and imm-scale-b, and negate the "
        "data");
  const unsigned form =
      gemmlab_ptx::gemmlab_sim::wgmma_form<N, T>(trans_a, trans_b, get<int>(accumulate));
  sim_wgmma(form, one_array(d), nullptr, a, b, line);
}
template <int N, class T, class D, class A, class P>
__forceinline__ void wgmma_rs(int line, D d, A a, uint64_t b, const P& accumulate, int sign_a,
                              int sign_b, int trans_b) {
  if (sign_a != 1 || sign_b != 1)
    sim_not_simulated(
        "wgmma with a negated operand | pass 1 for imm-scale-a and imm-scale-b, and negate the "
        "data");
  const unsigned form =
      gemmlab_ptx::gemmlab_sim::wgmma_form<N, T>(false, trans_b, get<int>(accumulate));
  sim_wgmma(form, one_array(d), one_array(a), 0, b, line);
}

}  // namespace gemmlab_ptx
