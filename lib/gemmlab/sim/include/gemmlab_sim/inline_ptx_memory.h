// Of inline PTX: loads, stores, atomics and copies.
#pragma once
#include "inline_ptx_registers.h"

namespace gemmlab_ptx {

// A memory's window, in which an address stands for a byte.
struct Global {
  template <class A>
  static __forceinline__ void* pointer(const A& address) {
    return reinterpret_cast<void*>(get<uint64_t>(address));
  }
};
struct Shared {
  template <class A>
  static __forceinline__ void* pointer(const A& address) {
    return sim_shared_pointer(get<uint32_t>(address));
  }
};
// A base register and a constant behind it.
template <class A>
__forceinline__ auto offset(const A& base, long long bytes) {
  if constexpr (std::is_pointer_v<A> || sizeof(A) == 8)
    return get<uint64_t>(base) + uint64_t(bytes);
  else
    return get<uint32_t>(base) + uint32_t(bytes);
}

// T: an element's type. One access for all of them.
template <class Space, class T, class A, class... D>
__forceinline__ void ld(const A& address, D&&... d) {
  T values[sizeof...(D)];
  if constexpr (sizeof values == 1) {
    values[0] = *static_cast<const T*>(Space::pointer(address));
  } else {
    using Whole = typename ::gemmlab_sim::Whole<sizeof values>::type;
    const Whole whole = *static_cast<const Whole*>(Space::pointer(address));
    std::memcpy(values, &whole, sizeof values);
  }
  const T* value = values;
  (put<T>(d, *value++), ...);
}
template <class Space, class T, class A, class... V>
__forceinline__ void st(const A& address, const V&... v) {
  const T values[] = {get<T>(v)...};
  if constexpr (sizeof values == 1) {
    *static_cast<T*>(Space::pointer(address)) = values[0];
  } else {
    using Whole = typename ::gemmlab_sim::Whole<sizeof values>::type;
    Whole whole;
    std::memcpy(&whole, values, sizeof values);
    *static_cast<Whole*>(Space::pointer(address)) = whole;
  }
}
template <class Space, class T, class D, class A>
__forceinline__ void ld_volatile(const A& address, D&& d) {
  put<T>(d, *static_cast<const volatile T*>(Space::pointer(address)));
}
template <class Space, class T, class A, class V>
__forceinline__ void st_volatile(const A& address, const V& v) {
  *static_cast<volatile T*>(Space::pointer(address)) = get<T>(v);
}
// Of another block of the cluster.
template <class A, class D>
__forceinline__ void ld_cluster(const A& address, D&& d) {
  put<uint32_t>(d, sim_load_remote(get<uint32_t>(address)));
}
template <class A, class V>
__forceinline__ void st_cluster(const A& address, const V& v) {
  sim_store_remote(get<uint32_t>(address), get<uint32_t>(v));
}

// T: the type of atomics.h for which there is this operation.
template <class Space, SimAtomic Operation, SimAtomicType Type, class T, class D, class A, class V>
__forceinline__ void atom(D&& d, const A& address, const V& v) {
  T* const at = static_cast<T*>(Space::pointer(address));
  put<T>(d, ::gemmlab_sim::atomic<T>(Operation, Type, at, get<T>(v)));
}
template <class Space, SimAtomicType Type, class T, class D, class A, class V, class W>
__forceinline__ void atom_cas(D&& d, const A& address, const V& compare, const W& value) {
  T* const at = static_cast<T*>(Space::pointer(address));
  put<T>(d, ::gemmlab_sim::atomic<T>(SIM_ATOMIC_COMPARE, Type, at, get<T>(value), get<T>(compare)));
}

// cp.async. A source size that is left out is the copy's.
template <bool PastL1, class D, class S, class N>
__forceinline__ void cp_async(const D& to, const S& from, const N& bytes) {
  const unsigned count = get<unsigned>(bytes);
  sim_cp_async(get<uint32_t>(to), Global::pointer(from), count, count,
               PastL1 ? SIM_COPY_CG : SIM_COPY_CA);
}
template <bool PastL1, class D, class S, class N, class M>
__forceinline__ void cp_async(const D& to, const S& from, const N& bytes, const M& source_bytes) {
  sim_cp_async(get<uint32_t>(to), Global::pointer(from), get<unsigned>(bytes),
               get<unsigned>(source_bytes), PastL1 ? SIM_COPY_CG_ZFILL : SIM_COPY_CA);
}
template <class N>
__forceinline__ void cp_async_wait_group(const N& groups) {
  sim_cp_async_wait(get<unsigned>(groups));
}

template <class D, class A>
__forceinline__ void cvta_to_shared(D&& d, const A& generic) {
  put<uint64_t>(d, sim_shared_address(Global::pointer(generic)));
}
template <class D, class A>
__forceinline__ void cvta_shared(D&& d, const A& address) {
  put<uint64_t>(d, reinterpret_cast<uint64_t>(Shared::pointer(address)));
}
template <class D, class A, class R>
__forceinline__ void mapa_shared(D&& d, const A& address, const R& rank) {
  put<uint32_t>(d, mapa(get<uint32_t>(address), get<uint32_t>(rank)));
}

}  // namespace gemmlab_ptx
