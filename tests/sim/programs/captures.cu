// What a capture forbids, and graphs at the edge of what there is: each call's error is the one
// that CUDA's documentation names.
#include <cstdio>

static int failed = 0;
static void expect(cudaError_t got, cudaError_t wanted, const char* what) {
  if (got == wanted) return;
  ++failed;
  printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
}

__global__ void add(int* to) { to[threadIdx.x] += 1; }

struct Streams {
  cudaStream_t one, two;
  cudaEvent_t event;
  cudaGraph_t graph = nullptr;
  Streams() {
    cudaStreamCreate(&one);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&event);
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    expect(cudaStreamBeginCapture(one, mode), cudaSuccess, "begin");
  }
  void end(cudaError_t wanted, const char* what) {
    graph = reinterpret_cast<cudaGraph_t>(8);
    expect(cudaStreamEndCapture(one, &graph), wanted, what);
    if (wanted != cudaSuccess && graph) expect(cudaErrorUnknown, cudaSuccess, "a graph is left");
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(one, &status);
    if (status != cudaStreamCaptureStatusNone) expect(cudaErrorUnknown, cudaSuccess, "still on");
  }
  // A call that invalidates the capture.
  template <class Call>
  void invalid(Call call, cudaError_t wanted, const char* what) {
    begin();
    expect(call(), wanted, what);
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(one, &status);
    if (status != cudaStreamCaptureStatusInvalidated)
      expect(cudaErrorUnknown, cudaSuccess, "not invalidated");
    expect(cudaEventRecord(event, one), cudaErrorStreamCaptureInvalidated, "goes on");
    end(cudaErrorStreamCaptureInvalidated, what);
    cudaGetLastError();
  }
};

static void test_states(Streams s, int* x) {
  expect(cudaStreamEndCapture(s.one, &s.graph), cudaErrorIllegalState, "end without begin");
  s.begin();
  add<<<1, 1, 0, s.one>>>(x);
  expect(cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal), cudaErrorIllegalState,
         "begin twice");
  s.end(cudaSuccess, "end");
  size_t count = 0;
  cudaGraphGetNodes(s.graph, nullptr, &count);
  if (count != 1) expect(cudaErrorUnknown, cudaSuccess, "the first capture is lost");
  cudaGetLastError();
}

static void test_what_is_forbidden(Streams s, int* x) {
  int* y;
  s.invalid([&] { return cudaStreamSynchronize(s.one); }, cudaErrorStreamCaptureUnsupported,
            "synchronize");
  s.invalid([&] { return cudaStreamQuery(s.one); }, cudaErrorStreamCaptureUnsupported, "query");
  s.invalid([&] { return cudaDeviceSynchronize(); }, cudaErrorStreamCaptureUnsupported, "device");
  s.invalid([&] { return cudaMalloc(&y, 4); }, cudaErrorStreamCaptureUnsupported, "malloc");
  s.invalid([&] { return cudaMemset(x, 0, 4); }, cudaErrorStreamCaptureImplicit, "memset");
  s.invalid(
      [&] {
        add<<<1, 1>>>(x);
        return cudaGetLastError();
      },
      cudaErrorStreamCaptureImplicit, "default stream");
  cudaEvent_t outside;
  cudaEventCreate(&outside);
  cudaEventRecord(outside, s.two);
  s.invalid([&] { return cudaStreamWaitEvent(s.one, outside, 0); }, cudaErrorStreamCaptureIsolation,
            "an event from outside");
  s.invalid(
      [&] {
        cudaEventRecord(s.event, s.one);
        return cudaEventQuery(s.event);
      },
      cudaErrorCapturedEvent, "captured event");
  s.begin(cudaStreamCaptureModeRelaxed);
  expect(cudaMalloc(&y, 4), cudaSuccess, "malloc, relaxed");
  expect(cudaStreamSynchronize(s.two), cudaSuccess, "another stream");
  s.end(cudaSuccess, "relaxed");
}

static void test_forks(Streams s, int* x) {
  s.begin();
  cudaEventRecord(s.event, s.one);
  cudaStreamWaitEvent(s.two, s.event, 0);
  add<<<1, 1, 0, s.two>>>(x);
  expect(cudaStreamEndCapture(s.two, &s.graph), cudaErrorStreamCaptureUnmatched, "other stream");
  s.end(cudaErrorStreamCaptureInvalidated, "after the other");
  s.begin();
  cudaEventRecord(s.event, s.one);
  cudaStreamWaitEvent(s.two, s.event, 0);
  add<<<1, 1, 0, s.two>>>(x);
  s.end(cudaErrorStreamCaptureUnjoined, "unjoined");
  s.begin();
  cudaStreamBeginCapture(s.two, cudaStreamCaptureModeGlobal);
  cudaEventRecord(s.event, s.two);
  expect(cudaStreamWaitEvent(s.one, s.event, 0), cudaErrorStreamCaptureMerge, "merge");
  s.end(cudaErrorStreamCaptureInvalidated, "merge");
  cudaStreamEndCapture(s.two, &s.graph);
  cudaGetLastError();
}

static void test_graphs(Streams s, int* x) {
  cudaGraphExec_t run;
  s.begin();
  s.end(cudaSuccess, "empty");
  expect(cudaGraphInstantiate(&run, s.graph, 0), cudaSuccess, "an empty graph");
  expect(cudaGraphLaunch(run, s.one), cudaSuccess, "its launch");
  s.begin();
  add<<<1, 1, 0, s.one>>>(x);
  s.end(cudaSuccess, "one node");
  cudaGraphExecUpdateResultInfo said;
  expect(cudaGraphExecUpdate(run, s.graph, &said), cudaErrorGraphExecUpdateFailure, "update");
  cudaGetLastError();
  cudaGraphInstantiate(&run, s.graph, 0);
  cudaGraphLaunch(run, s.one);
  cudaGraphLaunch(run, s.two);
  cudaDeviceSynchronize();
  int value = 0;
  cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost);
  if (value != 2) expect(cudaErrorUnknown, cudaSuccess, "launched twice");
  expect(cudaGraphLaunch(nullptr, s.one), cudaErrorInvalidValue, "no graph");
}

int main() {
  int* x;
  cudaMalloc(&x, sizeof *x);
  cudaMemset(x, 0, sizeof *x);
  const Streams streams;
  test_states(streams, x);
  test_what_is_forbidden(streams, x);
  test_forks(streams, x);
  test_graphs(streams, x);
  if (!failed) printf("right\n");
  return failed != 0;
}
