// Arrays, textures and surfaces: filtering, address modes, normalized reads, layers, cubes. Kernels
// check themselves.
#include <cstdio>

__device__ int wrong;
#define EXPECT(holds) \
  if (!(holds)) atomicAdd(&wrong, 1), printf("line %d\n", __LINE__)

// The 4 x 3 elements hold 10 row + column.
__global__ void planes(cudaTextureObject_t points, cudaTextureObject_t linear) {
  EXPECT(tex2D<float>(points, 2.9f, 1.1f) == 12 && tex2D<float>(points, -5, 99) == 20);
  EXPECT(tex2D<float>(linear, 0.5f / 4, 0.5f / 3) == 0);  // the middle of the first element
  EXPECT(tex2D<float>(linear, 1.0f / 4, 1.0f / 3) == 5.5f);
  EXPECT(tex2D<float>(linear, 1.5f / 4 + 1, 0.5f / 3) == 1);  // wraps
  EXPECT(tex2D<float>(linear, 0.5f / 4, -0.5f / 3) == 0);     // mirrored
  EXPECT(tex2D<float>(linear, 0.501f / 4, 0.5f / 3) == 0);    // a weight has 8 bits
  EXPECT(tex2D<float>(linear, 0.503f / 4, 0.5f / 3) == 1.0f / 256);
  const float4 four = tex2Dgather<float4>(points, 1, 1);
  EXPECT(four.x == 10 && four.y == 11 && four.z == 1 && four.w == 0);
}

__global__ void values(cudaTextureObject_t bytes, cudaTextureObject_t border,
                       cudaTextureObject_t layers, cudaTextureObject_t cube) {
  const uchar4 element = tex1Dfetch<uchar4>(bytes, 1);
  EXPECT(element.x == 4 && element.w == 7);
  EXPECT(tex2D<float>(border, 0, 0) == 1 && tex2D<float>(border, 1, 0) == -1);
  EXPECT(tex2D<float>(border, 2, 0) == 0.25f);  // the border's color
  EXPECT(tex2DLayered<int>(layers, 0, 0, 1) == 101 && tex2DLayered<int>(layers, 0, 0, 5) == 105);
  EXPECT(texCubemap<int>(cube, 1, 0.1f, 0) == 100 && texCubemap<int>(cube, 0, -3, 1) == 103);
}

__global__ void copied(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x * sizeof(float);
  surf2Dwrite(surf2Dread<float>(from, x, blockIdx.x) + 1, to, x, blockIdx.x);
  EXPECT(surf2Dread<float>(from, -4, 0, cudaBoundaryModeZero) == 0);
}

__global__ void outside(cudaSurfaceObject_t to) {
  surf2Dwrite(1.0f, to, 4 * sizeof(float), 0);  // [outside]
}

cudaTextureObject_t made(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                         cudaTextureAddressMode x, cudaTextureAddressMode y, bool normalized,
                         cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc how = {};
  how.addressMode[0] = x, how.addressMode[1] = y, how.filterMode = filter;
  how.readMode = read, how.normalizedCoords = normalized, how.borderColor[0] = 0.25f;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  return texture;
}

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaArray_t plane(const float (&rows)[3][4]) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 4, 3, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(array, 0, 0, rows, sizeof rows[0], sizeof rows[0], 3, cudaMemcpyHostToDevice);
  return array;
}

// Six layers of one int, 100 and up.
cudaArray_t stack(unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  int numbers[6] = {100, 101, 102, 103, 104, 105};
  cudaMemcpy3DParms copy = {};
  cudaMalloc3DArray(&copy.dstArray, &format, make_cudaExtent(1, 1, 6), flags);
  copy.srcPtr = make_cudaPitchedPtr(numbers, sizeof(int), 1, 1);
  copy.extent = make_cudaExtent(1, 1, 6), copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  return copy.dstArray;
}

int main(int argc, char** argv) {
  const float rows[3][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};
  cudaArray_t array = plane(rows), other = plane(rows);
  const auto clamp = cudaAddressModeClamp;
  planes<<<1, 1>>>(
      made(of(array), cudaFilterModePoint, clamp, clamp, false),
      made(of(array), cudaFilterModeLinear, cudaAddressModeWrap, cudaAddressModeMirror, true));

  unsigned char* bytes;
  signed char* sizes;
  cudaMallocManaged(&bytes, 8);
  cudaMallocManaged(&sizes, 512);
  for (int i = 0; i < 8; ++i) bytes[i] = i;
  sizes[0] = 127, sizes[1] = -128;
  cudaResourceDesc linear = {}, pitched = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {bytes, cudaCreateChannelDesc<uchar4>(), 8};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {sizes, cudaCreateChannelDesc<signed char>(), 2, 1, 512};
  values<<<1, 1>>>(made(linear, cudaFilterModePoint, clamp, clamp, false),
                   made(pitched, cudaFilterModePoint, cudaAddressModeBorder, clamp, false,
                        cudaReadModeNormalizedFloat),
                   made(of(stack(cudaArrayLayered)), cudaFilterModePoint, clamp, clamp, false),
                   made(of(stack(cudaArrayCubemap)), cudaFilterModePoint, clamp, clamp, true));

  cudaSurfaceObject_t from, to;
  const cudaResourceDesc resources[] = {of(array), of(other)};
  cudaCreateSurfaceObject(&from, &resources[0]);
  cudaCreateSurfaceObject(&to, &resources[1]);
  copied<<<3, 4>>>(from, to);
  if (argc > 1 && argv[1][0] == 'o') outside<<<1, 1>>>(to);
  float back[3][4];
  cudaMemcpy2DFromArray(back, 16, other, 0, 0, 16, 3, cudaMemcpyDeviceToHost);
  int failed;
  cudaMemcpyFromSymbol(&failed, wrong, sizeof failed);
  for (int i = 0; i < 12; ++i) failed += back[i / 4][i % 4] != rows[i / 4][i % 4] + 1;
  cudaFreeArray(array);
  printf(failed ? "%d wrong\n" : "right\n", failed);
  return failed;
}
