// What kernels ask of the device by themselves: launches, memory of its heap, objects.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <omp.h>

__device__ int wrong;
#define EXPECT(holds) \
  if (!(holds)) atomicAdd(&wrong, 1), printf("line %d\n", __LINE__)

struct Shape {
  __device__ Shape(int size) : size(size) {}
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const { return 0; }
  int size;
};
struct Square : Shape {
  using Shape::Shape;
  __device__ int area() const override { return size * size; }
};

// A list that one launch makes, the next one reads, and the third one gives back.
__global__ void make(int** lists, Shape** shapes) {
  int* const list = new int[threadIdx.x + 1];
  for (unsigned i = 0; i <= threadIdx.x; ++i) list[i] = int(i * threadIdx.x);
  lists[threadIdx.x] = list;
  shapes[threadIdx.x] = new Square(int(threadIdx.x));
  int* const more = static_cast<int*>(malloc(sizeof(int)));
  *more = 1;
  EXPECT(list[0] == 0 && *more == 1);
  free(more);
}
__global__ void use(int* const* lists, Shape* const* shapes, int* sums) {
  int sum = shapes[threadIdx.x]->area();
  for (unsigned i = 0; i <= threadIdx.x; ++i) sum += lists[threadIdx.x][i];
  sums[threadIdx.x] = sum;
}
__global__ void give_back(int** lists, Shape** shapes) {
  delete[] lists[threadIdx.x];
  delete shapes[threadIdx.x];
}
__global__ void take_too_much() {
  void* const memory = malloc(size_t(1) << 30);
  EXPECT(memory == nullptr);
  free(memory);
}

// An object in shared memory, which one thread makes and all use.
__global__ void shared_object() {
  __shared__ __align__(8) unsigned char room[sizeof(Square)];
  __shared__ Shape* shape;
  if (threadIdx.x == 0) shape = new (room) Square(5);
  __syncthreads();
  EXPECT(shape->area() == 25);
}

// Each thread launches two blocks, with arguments of its own, as deep as asked for.
__global__ void tree(int depth, int parent, int* visits) {
  const int number = 4 * parent + int(2 * blockIdx.x + threadIdx.x) + 1;
  visits[number] = parent + 1;
  if (depth == 0) return;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  tree<<<2, 2, 0, threadIdx.x ? stream : 0>>>(depth - 1, number, visits);
  cudaStreamDestroy(stream);
}

static int test_heap() {
  constexpr int N = 48;
  int **lists, *sums, own[N], failed = 0;
  Shape** shapes;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
  size_t heap = 0;
  cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
  failed += heap != 1 << 20;
  cudaMalloc(&lists, N * sizeof *lists);
  cudaMalloc(&shapes, N * sizeof *shapes);
  cudaMalloc(&sums, sizeof own);
  for (int round = 0; round < 40; ++round) {  // more than there is room for without giving back
    make<<<1, N>>>(lists, shapes);
    use<<<1, N>>>(lists, shapes, sums);
    give_back<<<1, N>>>(lists, shapes);
  }
  cudaMemcpy(own, sums, sizeof own, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i) failed += own[i] != i * i + i * i * (i + 1) / 2;
  take_too_much<<<1, 1>>>();
  shared_object<<<2, 32>>>();
  return failed;
}

static int test_launches() {
  constexpr int DEPTH = 2, ALL = 1 + 4 * (1 + 4 + 16);
  int *visits, own[ALL], failed = 0;
  cudaMalloc(&visits, sizeof own);
  cudaMemset(visits, 0, sizeof own);
  tree<<<2, 2>>>(DEPTH, 0, visits);
  failed += cudaDeviceSynchronize() != cudaSuccess;
  cudaMemcpy(own, visits, sizeof own, cudaMemcpyDeviceToHost);
  for (int i = 1; i < ALL; ++i) failed += own[i] != (i - 1) / 4 + 1;
  return failed;
}

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }

// Several threads of the host's, each with memory and launches of its own.
static int test_host_threads() {
  int failed = 0, threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : failed, threads)
  {
    int *memory, own[32];
    const int number = omp_get_thread_num();
    cudaMalloc(&memory, sizeof own);
    for (int round = 0; round < 20; ++round) {
      fill<<<1, 32>>>(memory, number + round);
      cudaMemcpy(own, memory, sizeof own, cudaMemcpyDeviceToHost);
      failed += own[31] != number + round;
    }
    cudaFree(memory);
    ++threads;
  }
  return failed + (threads != 3);
}

int main() {
  int seen = 0;
  int failed = test_heap() + test_launches() + test_host_threads();
  cudaMemcpyFromSymbol(&seen, wrong, sizeof seen);
  puts(failed + seen ? "wrong" : "right");
  return failed + seen;
}
