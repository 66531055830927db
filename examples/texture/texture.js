// From one GPUTexture to another through a spectrum: a shader reads the texture's texels into a buffer, omnifft transforms that, a
// shader weighs the bins, omnifft transforms back, a shader writes the texels of the other texture. One encoder, one submit.

/** Texels along each side. */
export const SIZE = 256;

const LOAD = /* wgsl */ `
  @group(0) @binding(0) var picture: texture_2d<f32>;
  @group(0) @binding(1) var<storage, read_write> values: array<vec2f>;

  // Two of the three colours are the parts of one complex number: a filter with real weights keeps them apart.
  @compute @workgroup_size(16, 16)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    values[id.y * ${SIZE}u + id.x] = textureLoad(picture, id.xy, 0).rg;
  }`;

const WEIGH = /* wgsl */ `
  @group(0) @binding(0) var<storage, read_write> bins: array<vec2f>;
  @group(0) @binding(1) var<uniform> cutoff: vec4f;

  fn wave(n: u32) -> f32 {
    return f32(n) - select(0.0, ${SIZE}.0, n >= ${SIZE / 2}u);
  }

  // What turns less often than the cutoff stays, with a soft edge.
  @compute @workgroup_size(16, 16)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    let turns = length(vec2f(wave(id.x), wave(id.y)));
    bins[id.y * ${SIZE}u + id.x] *= 1.0 - smoothstep(cutoff.x, 1.25 * cutoff.x, turns);
  }`;

const STORE = /* wgsl */ `
  @group(0) @binding(0) var<storage, read> values: array<vec2f>;
  @group(0) @binding(1) var picture: texture_storage_2d<rgba8unorm, write>;

  @compute @workgroup_size(16, 16)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    let value = values[id.y * ${SIZE}u + id.x];
    textureStore(picture, id.xy, vec4f(value, 0.5, 1.0));
  }`;

/** Two textures side by side. */
const SHOW = /* wgsl */ `
  @group(0) @binding(0) var before: texture_2d<f32>;
  @group(0) @binding(1) var after: texture_2d<f32>;

  @vertex
  fn corner(@builtin(vertex_index) n: u32) -> @builtin(position) vec4f {
    return vec4f(select(-1.0, 3.0, n == 1u), select(-1.0, 3.0, n == 2u), 0.0, 1.0);
  }

  @fragment
  fn texel(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let place = vec2u(at.xy);
    if (place.x < ${SIZE}u) { return textureLoad(before, place, 0); }
    return textureLoad(after, place - vec2u(${SIZE}u, 0u), 0);
  }`;

/**
 * @param {GPUDevice} gpu the program's own device
 * @param {typeof import('omnifft').openDevice} openDevice
 * @param {GPUTexture} input of SIZE × SIZE texels
 */
export async function makeFilter(gpu, openDevice, input) {
  const device = await openDevice('webgpu', { device: gpu });
  const plan = await device.plan({ size: [SIZE, SIZE], placement: 'in-place', normalize: true });
  const { STORAGE, UNIFORM, COPY_DST } = GPUBufferUsage;
  const values = gpu.createBuffer({ size: plan.input.bytes, usage: STORAGE });
  const cutoff = gpu.createBuffer({ size: 16, usage: UNIFORM | COPY_DST });
  const output = gpu.createTexture({
    size: [SIZE, SIZE],
    format: 'rgba8unorm',
    usage: GPUTextureUsage.STORAGE_BINDING | GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_SRC,
  });
  const load = stage(gpu, LOAD, [input.createView(), { buffer: values }]);
  const weigh = stage(gpu, WEIGH, [{ buffer: values }, { buffer: cutoff }]);
  const store = stage(gpu, STORE, [{ buffer: values }, output.createView()]);
  /** @param {number} turns a side from which on waves are taken out */
  const filter = async (turns) => {
    gpu.queue.writeBuffer(cutoff, 0, new Float32Array([turns, 0, 0, 0]));
    const encoder = gpu.createCommandEncoder();
    load(encoder);
    await plan.enqueue('forward', { input: values, encoder });
    weigh(encoder);
    await plan.enqueue('inverse', { input: values, encoder });
    store(encoder);
    gpu.queue.submit([encoder.finish()]);
  };
  return { output, filter };
}

/** A compute shader over some resources, as a function that appends it to an encoder: an invocation for each texel. */
function stage(gpu, code, resources) {
  const module = gpu.createShaderModule({ code });
  const pipeline = gpu.createComputePipeline({ layout: 'auto', compute: { module } });
  const entries = resources.map((resource, binding) => ({ binding, resource }));
  const group = gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return (encoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(SIZE / 16, SIZE / 16);
    pass.end();
  };
}

/** Draws both textures into a canvas of 2 SIZE × SIZE. */
export function painter(gpu, canvas, before, after) {
  const context = canvas.getContext('webgpu');
  const format = navigator.gpu.getPreferredCanvasFormat();
  context.configure({ device: gpu, format });
  const module = gpu.createShaderModule({ code: SHOW });
  const pipeline = gpu.createRenderPipeline({
    layout: 'auto',
    vertex: { module },
    fragment: { module, targets: [{ format }] },
  });
  const entries = [before, after].map((texture, binding) => ({ binding, resource: texture.createView() }));
  const group = gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return () => {
    const encoder = gpu.createCommandEncoder();
    const view = context.getCurrentTexture().createView();
    const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: 'clear', storeOp: 'store' }] });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.draw(3);
    pass.end();
    gpu.queue.submit([encoder.finish()]);
  };
}

/** A texture with a picture, of bytes from `levels(x, y)`: red and green. */
export function pictureOf(gpu, levels) {
  const bytes = new Uint8Array(4 * SIZE * SIZE);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) bytes.set([...levels(x, y).map(Math.round), 128, 255], 4 * (y * SIZE + x));
  }
  const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST;
  const texture = gpu.createTexture({ size: [SIZE, SIZE], format: 'rgba8unorm', usage });
  gpu.queue.writeTexture({ texture }, bytes, { bytesPerRow: 4 * SIZE }, [SIZE, SIZE]);
  return texture;
}

/** The texels of a texture. */
export async function read(gpu, texture) {
  const buffer = gpu.createBuffer({ size: 4 * SIZE * SIZE, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = gpu.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: 4 * SIZE }, [SIZE, SIZE]);
  gpu.queue.submit([encoder.finish()]);
  await buffer.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(buffer.getMappedRange().slice(0));
  buffer.destroy();
  return bytes;
}
