// What programs ask of the CUDA runtime, and C++ around it. No header of CUDA's is included: nvcc
// includes its own.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#define CHECK(call)                                                           \
  do {                                                                        \
    const cudaError_t error = (call);                                         \
    if (error != cudaSuccess) {                                               \
      printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error)); \
      exit(4);                                                                \
    }                                                                         \
  } while (0)

__constant__ float weights[4];
__device__ int visits;

template <typename T, int Factor>
__global__ void scaled(const T* in, T* out, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Factor * in[i] + weights[i % 4];
}

// Which instance is launched follows from the arguments.
template <typename T>
__global__ void reversed(T* values, unsigned n) {
  extern __shared__ __align__(16) unsigned char anything[];
  T* const tile = reinterpret_cast<T*>(anything);
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

__global__ __launch_bounds__(64) void count() {
  assert(blockDim.x == 64);
  if (threadIdx.x == 0) {
    atomicAdd(&visits, 1);
    printf("block %u\n", blockIdx.x);
  }
}

struct Shape {
  virtual ~Shape() = default;
  virtual int sides() const { return 0; }
};
struct Square : Shape {
  int sides() const override { return 4; }
};

static int failed = 0;
static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failed;
  std::cout << "wrong: " << what << "\n";
}

static void test_memory() {
  const int n = 100;
  std::vector<float> host(n, 2.0f), back(n);
  const float table[4] = {0, 1, 2, 3};
  CHECK(cudaMemcpyToSymbol(weights, table, sizeof table));
  float *in, *out;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc((void**)&out, n * sizeof(float)));
  CHECK(cudaMemcpyAsync(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
  scaled<float, 3><<<dim3((n + 31) / 32), 32, 0, stream>>>(in, out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(back.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  expect(back[0] == 6 && back[7] == 9, "scaled");
  CHECK(cudaMemset(out, 0, n * sizeof(float)));
  CHECK(cudaMemcpy(back.data(), out, n * sizeof(float), cudaMemcpyDefault));
  expect(back[7] == 0, "cudaMemset");
  expect(cudaMemcpy(out, host.data(), 2 * n * sizeof(float), cudaMemcpyHostToDevice) ==
             cudaErrorInvalidValue,
         "a copy past the end");
  expect(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess,
         "cudaGetLastError");
  CHECK(cudaFree(in));
  CHECK(cudaFreeAsync(out, stream));
  CHECK(cudaStreamDestroy(stream));
}

static void test_shared_memory_with_host() {
  int *managed, *pinned;
  CHECK(cudaMallocManaged(&managed, 64 * sizeof(int)));
  CHECK(cudaMallocHost(&pinned, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) managed[i] = pinned[i] = i;
  reversed<<<1, 64, 64 * sizeof(int)>>>(managed, 64u);
  reversed<int><<<1, 64, 64 * sizeof(int)>>>(pinned, 64);
  CHECK(cudaDeviceSynchronize());
  expect(managed[0] == 63 && pinned[63] == 0, "managed and pinned memory");
  std::vector<int> own(64, 5);
  CHECK(cudaHostRegister(own.data(), 64 * sizeof(int), cudaHostRegisterMapped));
  expect(cudaHostRegister(&own[8], 4, 0) == cudaErrorHostMemoryAlreadyRegistered, "registered");
  cudaGetLastError();
  int* mapped;
  CHECK(cudaHostGetDevicePointer(&mapped, own.data(), 0));
  own[3] = 7;
  reversed<<<1, 64, 64 * sizeof(int)>>>(mapped, 64u);
  CHECK(cudaDeviceSynchronize());
  expect(own[60] == 7 && own[3] == 5, "registered memory");
  CHECK(cudaHostUnregister(own.data()));
  expect(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered, "not registered");
  cudaGetLastError();
  double* other;
  CHECK(cudaMalloc(&other, 32 * sizeof(double)));
  CHECK(cudaMemset(other, 0, 32 * sizeof(double)));
  reversed<<<1, 32, 32 * sizeof(double)>>>(other, 32);
  CHECK(cudaFree(other));
  CHECK(cudaFree(managed));
  CHECK(cudaFreeHost(pinned));
}

static void test_device() {
  cudaDeviceProp properties;
  int devices, sms;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  expect(devices == 1 && properties.multiProcessorCount == sms && properties.major == 9, "device");
  expect(cudaSetDevice(7) == cudaErrorInvalidDevice && cudaGetLastError() != cudaSuccess,
         "a device that is not there");
  cudaEvent_t start, stop;
  float milliseconds = -1;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  for (int round = 0; round < 2; ++round) count<<<3, 64>>>();
  CHECK(cudaEventRecord(stop, 0));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  expect(milliseconds >= 0, "events");
  int seen;
  CHECK(cudaMemcpyFromSymbol(&seen, visits, sizeof seen));
  expect(seen == 6, "a __device__ variable");
  CHECK(cudaFuncSetAttribute(reversed<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
}

int main(int argc, char** argv) {
  std::atomic<int> atomics{argc};
  std::shared_ptr<Shape> shape = std::make_shared<Square>();
  expect(shape->sides() == 4 && ++atomics == argc + 1, "C++");
  test_memory();
  test_shared_memory_with_host();
  test_device();
  std::cout << argc << " " << argv[argc - 1] << std::endl;
  if (failed) return 1;
  puts("right");
  exit(0);
}
