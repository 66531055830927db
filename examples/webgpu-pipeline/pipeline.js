// A transform in the middle of a program's own WebGPU pipeline: one shader makes signals, omnifft transforms them, another
// shader looks for the strongest bins. One command encoder, one submit; nothing is read back in between.

const LENGTH = 1024;
const BATCHES = 64;

const MAKE = /* wgsl */ `
  @group(0) @binding(0) var<storage, read_write> signal: array<vec2f>;

  // Batch b is a wave that turns 3b + 5 times.
  @compute @workgroup_size(64)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    let batch = id.x / ${LENGTH}u;
    let turns = ((id.x % ${LENGTH}u) * (3u * batch + 5u)) % ${LENGTH}u;
    let angle = f32(turns) * (6.283185307179586 / ${LENGTH}.0);
    signal[id.x] = vec2f(cos(angle), sin(angle));
  }`;

const FIND = /* wgsl */ `
  @group(0) @binding(0) var<storage, read> spectrum: array<vec2f>;
  @group(0) @binding(1) var<storage, read_write> strongest: array<u32>;

  @compute @workgroup_size(1)
  fn main(@builtin(workgroup_id) batch: vec3u) {
    var best = 0u;
    var most = -1.0;
    for (var k = 0u; k < ${LENGTH}u; k++) {
      let bin = spectrum[batch.x * ${LENGTH}u + k];
      let power = dot(bin, bin);
      if (power > most) { most = power; best = k; }
    }
    strongest[batch.x] = best;
  }`;

/**
 * @param {GPUDevice} gpu the program's own device
 * @param {typeof import('omnifft').openDevice} openDevice
 * @returns {Promise<{ found: number[], expected: number[] }>} the strongest bin of each batch
 */
export async function runPipeline(gpu, openDevice) {
  // omnifft works on the caller's device and buffers, and leaves them open.
  const device = await openDevice('webgpu', { device: gpu });
  const plan = await device.plan({ size: [LENGTH], batches: BATCHES, directions: 'forward' });

  const STORAGE = 0x80; // GPUBufferUsage.STORAGE
  const COPY_SRC = 0x04;
  const signal = gpu.createBuffer({ size: plan.input.bytes, usage: STORAGE });
  const spectrum = gpu.createBuffer({ size: plan.output.bytes, usage: STORAGE });
  const strongest = gpu.createBuffer({ size: 4 * BATCHES, usage: STORAGE | COPY_SRC });
  const readback = gpu.createBuffer({ size: 4 * BATCHES, usage: 0x01 | 0x08 }); // MAP_READ, COPY_DST

  const make = stage(gpu, MAKE, [signal]);
  const find = stage(gpu, FIND, [spectrum, strongest]);

  const encoder = gpu.createCommandEncoder();
  make(encoder, (LENGTH * BATCHES) / 64);
  await plan.enqueue('forward', { input: signal, output: spectrum, encoder });
  find(encoder, BATCHES);
  encoder.copyBufferToBuffer(strongest, 0, readback, 0, 4 * BATCHES);
  gpu.queue.submit([encoder.finish()]);

  await readback.mapAsync(0x01);
  const found = [...new Uint32Array(readback.getMappedRange())];
  for (const buffer of [signal, spectrum, strongest, readback]) buffer.destroy();
  plan.destroy();
  device.close();
  return { found, expected: found.map((_, batch) => 3 * batch + 5) };
}

/** A compute shader over some buffers, as a function that appends it to an encoder. */
function stage(gpu, code, buffers) {
  const module = gpu.createShaderModule({ code });
  const pipeline = gpu.createComputePipeline({ layout: 'auto', compute: { module } });
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const group = gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return (encoder, workgroups) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(workgroups);
    pass.end();
  };
}
