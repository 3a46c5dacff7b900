// CUDA's graphs: captured from streams, made of nodes, changed, with conditions and with memory.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t error = (call);                                                            \
    if (error != cudaSuccess) {                                                                  \
      printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(error), cudaGetErrorString(error)); \
      exit(4);                                                                                   \
    }                                                                                            \
  } while (0)

constexpr int N = 64;
static int failed = 0;
static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failed;
  printf("wrong: %s\n", what);
}

__global__ void add(float* to, const float* from, float factor) {
  to[threadIdx.x] += factor * from[threadIdx.x];
}
static __global__ void fill(float* to, float value) { to[threadIdx.x] = value; }
__global__ void count_down(int* counter, cudaGraphConditionalHandle handle) {
  --*counter;
  cudaGraphSetConditional(handle, *counter > 0);
}
__global__ void choose(const int* value, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, *value);
}

static float first(const float* memory) {
  float value;
  CHECK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

// Begins a capture of two streams: a = value, in the second one b = a, and then a += 2 * b.
static void capture(cudaStream_t one, cudaStream_t two, float* a, float* b, float value) {
  cudaEvent_t filled, copied;
  CHECK(cudaEventCreate(&filled));
  CHECK(cudaEventCreate(&copied));
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  fill<<<1, N, 0, one>>>(a, value);
  CHECK(cudaEventRecord(filled, one));
  CHECK(cudaStreamWaitEvent(two, filled, 0));
  CHECK(cudaMemcpyAsync(b, a, N * sizeof(float), cudaMemcpyDeviceToDevice, two));
  CHECK(cudaEventRecord(copied, two));
  CHECK(cudaStreamWaitEvent(one, copied, 0));
  add<<<1, N, 0, one>>>(a, b, 2);
}

static void test_capture(float* a, float* b) {
  cudaStream_t one, two;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  CHECK(cudaMemset(a, 0, N * sizeof(float)));
  capture(one, two, a, b, 3);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(two, &status));
  expect(status == cudaStreamCaptureStatusActive, "a stream that waits takes part");
  CHECK(cudaStreamEndCapture(one, &graph));
  CHECK(cudaStreamIsCapturing(two, &status));
  expect(status == cudaStreamCaptureStatusNone, "the capture ends for all");
  expect(first(a) == 0, "nothing runs while it is captured");
  size_t nodes = 0, roots = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  expect(nodes == 3 && roots == 1, "nodes of a capture");
  CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphDestroy(graph));
  for (int round = 0; round < 2; ++round) CHECK(cudaGraphLaunch(exec, one));
  expect(first(a) == 9, "a captured graph");

  // The same nodes with another value, and then other nodes.
  capture(one, two, a, b, 5);
  CHECK(cudaStreamEndCapture(one, &graph));
  cudaGraphExecUpdateResultInfo said;
  CHECK(cudaGraphExecUpdate(exec, graph, &said));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphLaunch(exec, one));
  expect(said.result == cudaGraphExecUpdateSuccess && first(a) == 15, "an update by its like");
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  fill<<<1, N, 0, one>>>(a, 5);
  CHECK(cudaMemcpyAsync(b, a, N * sizeof(float), cudaMemcpyDeviceToDevice, one));
  CHECK(cudaStreamEndCapture(one, &graph));
  expect(cudaGraphExecUpdate(exec, graph, &said) == cudaErrorGraphExecUpdateFailure &&
             said.result == cudaGraphExecUpdateErrorTopologyChanged,
         "an update by another graph");
  cudaGetLastError();
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphExecDestroy(exec));
  expect(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) != cudaSuccess,
         "the default stream is not captured");
  cudaGetLastError();
  CHECK(cudaStreamDestroy(one));
  CHECK(cudaStreamDestroy(two));
}

static void CUDART_CB note(void* data) { *static_cast<int*>(data) += 1; }

// memset -> kernel -> copy to the host -> a function of the host's; the kernel is changed later.
static void test_nodes(float* a, float* b) {
  float result[N];
  int noted = 0;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  std::vector<cudaGraphNode_t> node(4);
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zeros = {0};
  zeros.dst = a, zeros.elementSize = 4, zeros.width = N, zeros.height = 1;
  CHECK(cudaGraphAddMemsetNode(&node[0], graph, NULL, 0, &zeros));
  float factor = 2;
  void* arguments[] = {&a, &b, &factor};
  cudaKernelNodeParams kernel = {0};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(N);
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&node[1], graph, &node[0], 1, &kernel));
  CHECK(cudaGraphAddMemcpyNode1D(&node[2], graph, &node[1], 1, result, a, sizeof result,
                                 cudaMemcpyDeviceToHost));
  cudaHostNodeParams host = {note, &noted};
  CHECK(cudaGraphAddHostNode(&node[3], graph, &node[2], 1, &host));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  factor = 100;  // the node has its own copy
  fill<<<1, N>>>(b, 7);
  CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  expect(result[N - 1] == 14 && noted == 1, "explicit nodes");
  factor = 3;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, node[1], &kernel));
  CHECK(cudaGraphLaunch(exec, 0));
  expect(result[0] == 21 && noted == 2, "a kernel's new arguments");

  // A graph as the node of another, after a node that was added later.
  cudaGraph_t outer;
  cudaGraphNode_t child, before;
  cudaGraphExec_t whole;
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  float value = 10;
  void* fills[] = {&b, &value};
  kernel.func = (void*)fill;
  kernel.kernelParams = fills;
  CHECK(cudaGraphAddKernelNode(&before, outer, nullptr, 0, &kernel));
  CHECK(cudaGraphAddDependencies(outer, &before, &child, 1));
  CHECK(cudaGraphInstantiate(&whole, outer, 0));
  CHECK(cudaGraphLaunch(whole, 0));
  expect(result[0] == 20 && noted == 3, "a child graph, after its dependency");
  CHECK(cudaGraphAddDependencies(outer, &child, &before, 1));
  cudaGraphExec_t never;
  expect(cudaGraphInstantiate(&never, outer, 0) != cudaSuccess, "a circle");
  cudaGetLastError();
  for (cudaGraphExec_t one : {exec, whole}) CHECK(cudaGraphExecDestroy(one));
  for (cudaGraph_t one : {graph, outer}) CHECK(cudaGraphDestroy(one));
}

// while (--counter > 0) a += b; then, by a switch, nothing or another fill.
static void test_conditions(float* a, float* b) {
  int *counter, *chosen;
  CHECK(cudaMalloc(&counter, sizeof(int)));
  CHECK(cudaMallocManaged(&chosen, sizeof(int)));
  cudaGraph_t graph;
  cudaStream_t stream;
  cudaGraphNode_t loop, kernel_node, last;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaStreamCreate(&stream));
  cudaGraphConditionalHandle goes_on, which;
  CHECK(cudaGraphConditionalHandleCreate(&goes_on, graph, 1, cudaGraphCondAssignDefault));
  CHECK(cudaGraphConditionalHandleCreate(&which, graph));
  cudaGraphNodeParams asked = {cudaGraphNodeTypeConditional};
  asked.conditional.handle = goes_on;
  asked.conditional.type = cudaGraphCondTypeWhile;
  asked.conditional.size = 1;
  CHECK(cudaGraphAddNode(&loop, graph, NULL, NULL, 0, &asked));
  CHECK(cudaStreamBeginCaptureToGraph(stream, asked.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  add<<<1, N, 0, stream>>>(a, b, 1);
  count_down<<<1, 1, 0, stream>>>(counter, goes_on);
  CHECK(cudaStreamEndCapture(stream, nullptr));

  void* choices[] = {&chosen, &which};
  cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
  params.kernel.func = (void*)choose;
  params.kernel.gridDim = params.kernel.blockDim = dim3(1, 1, 1);
  params.kernel.kernelParams = choices;
  CHECK(cudaGraphAddNode(&kernel_node, graph, &loop, NULL, 1, &params));
  cudaGraphNodeParams switched = {cudaGraphNodeTypeConditional};
  switched.conditional.handle = which;
  switched.conditional.type = cudaGraphCondTypeSwitch;
  switched.conditional.size = 2;
  CHECK(cudaGraphAddNode(&last, graph, &kernel_node, NULL, 1, &switched));
  CHECK(cudaStreamBeginCaptureToGraph(stream, switched.conditional.phGraph_out[1], nullptr, nullptr,
                                      0, cudaStreamCaptureModeGlobal));
  fill<<<1, N, 0, stream>>>(a, -1);
  CHECK(cudaStreamEndCapture(stream, nullptr));

  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const float expected[] = {10, -1, 10};
  for (int round = 0; round < 3; ++round) {
    const int five = 5;
    CHECK(cudaMemcpy(counter, &five, sizeof five, cudaMemcpyHostToDevice));
    fill<<<1, N>>>(a, 0);
    fill<<<1, N>>>(b, 2);
    *chosen = round;
    CHECK(cudaGraphLaunch(exec, stream));
    expect(first(a) == expected[round], "conditions");
  }

  // After an update, a kernel in the loop is still found.
  cudaGraphExecUpdateResultInfo said;
  CHECK(cudaGraphExecUpdate(exec, graph, &said));
  cudaGraphNode_t inside[2];
  size_t count = 2;
  CHECK(cudaGraphGetNodes(asked.conditional.phGraph_out[0], inside, &count));
  float factor = 3;
  void* arguments[] = {&a, &b, &factor};
  cudaKernelNodeParams kernel = {0};
  kernel.func = (void*)add;
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(N);
  kernel.kernelParams = arguments;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, inside[0], &kernel));
  const int two = 2;
  CHECK(cudaMemcpy(counter, &two, sizeof two, cudaMemcpyHostToDevice));
  fill<<<1, N>>>(a, 0);
  *chosen = 0;
  CHECK(cudaGraphLaunch(exec, stream));
  expect(first(a) == 12, "another kernel in a loop");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(counter));
}

// Memory of a graph, used by it, and by a launch outside of it, until it is freed.
static void test_memory(float* a) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  float *own, *kept;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&own, N * sizeof(float), stream));
  CHECK(cudaMallocAsync(&kept, N * sizeof(float), stream));
  fill<<<1, N, 0, stream>>>(own, 4);
  fill<<<1, N, 0, stream>>>(kept, 1);
  add<<<1, N, 0, stream>>>(kept, own, 1);
  CHECK(cudaFreeAsync(own, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  size_t used = 1;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  expect(used == 0, "memory is a graph's once it is launched");
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaGraphLaunch(exec, stream));
    fill<<<1, N, 0, stream>>>(a, 1);
    add<<<1, N, 0, stream>>>(a, kept, 1);
    expect(first(a) == 6, "memory of a graph");
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    expect(used == N * sizeof(float), "what it has not freed");
    if (round == 0) CHECK(cudaFree(kept));
  }
  expect(cudaGraphLaunch(exec, stream) != cudaSuccess, "memory that is still allocated");
  cudaGetLastError();
  CHECK(cudaFreeAsync(kept, stream));
  expect(cudaFree(kept) != cudaSuccess, "memory that was freed");
  cudaGetLastError();
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaStreamDestroy(stream));
}

// What is copied to a variable, or between devices, and memory of a pool.
__device__ float factors[2];
static void test_other_copies(float* a, float* b) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMemPool_t pool;
  float *own, seen = 0, value = 7;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  fill<<<1, N>>>(a, 2);
  fill<<<1, N>>>(b, 0);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyToSymbolAsync(factors, &value, sizeof value, sizeof value, cudaMemcpyHostToDevice,
                                stream));
  CHECK(cudaMemcpyPeerAsync(b, 0, a, 0, N * sizeof(float), stream));
  CHECK(cudaMallocFromPoolAsync(&own, N * sizeof(float), pool, stream));
  CHECK(cudaFreeAsync(own, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaMemcpyFromSymbol(&seen, factors, sizeof seen, sizeof seen));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect(seen == 0 && first(b) == 0 && nodes == 4, "other copies are captured");
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaMemcpyFromSymbol(&seen, factors, sizeof seen, sizeof seen));
  expect(seen == 7 && first(b) == 2, "other copies of a graph");
}

int main() {
  float *a, *b;
  CHECK(cudaMalloc(&a, N * sizeof(float)));
  CHECK(cudaMalloc(&b, N * sizeof(float)));
  test_capture(a, b);
  test_nodes(a, b);
  test_conditions(a, b);
  test_memory(a);
  test_other_copies(a, b);
  puts(failed ? "wrong" : "right");
  return failed;
}
