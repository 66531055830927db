// An ocean: waves of all lengths and directions, each with its own speed, are added up by one inverse transform of 256 × 256
// points a frame. A shader moves the waves on, omnifft transforms, another shader draws the heights: one encoder, one submit,
// nothing is read back.
//
// The waves are those of J. Tessendorf, "Simulating Ocean Water" (SIGGRAPH course notes, 2001), section 4.3.

const N = 256;
/** Metres along each side. */
const SIDE = 250;
/** Squares of the net along each side, and how often it is repeated: to the sides, and to the horizon. */
const NET = 128;
const TILES = [3, 2];
const GRAVITY = 9.81;
/** Metres a second. */
const WIND = { x: 11, y: 5 };
/** How high the waves are, without a unit. */
const STRENGTH = 0.0013;
const SKY = [0.66, 0.77, 0.87, 1];

const MOVE = /* wgsl */ `
  @group(0) @binding(0) var<storage, read> start: array<vec4f>;
  @group(0) @binding(1) var<storage, read_write> spectrum: array<vec2f>;
  @group(0) @binding(2) var<uniform> view: vec4f;

  fn wave(n: u32) -> f32 {
    return 6.2831853 / ${SIDE}.0 * (f32(n) - select(0.0, ${N}.0, n >= ${N / 2}u));
  }

  // The wave that runs along k and the one that runs against it, as far as they have come: the sum of all is real.
  @compute @workgroup_size(64)
  fn main(@builtin(global_invocation_id) id: vec3u) {
    let k = vec2f(wave(id.x % ${N}u), wave(id.x / ${N}u));
    let angle = sqrt(${GRAVITY} * length(k)) * view.x;
    let turn = vec2f(cos(angle), sin(angle));
    let h = start[id.x];
    spectrum[id.x] = vec2f(
      (h.x + h.z) * turn.x - (h.y - h.w) * turn.y,
      (h.y + h.w) * turn.x + (h.x - h.z) * turn.y,
    );
  }`;

const DRAW = /* wgsl */ `
  @group(0) @binding(0) var<storage, read> heights: array<vec2f>;
  @group(0) @binding(1) var<uniform> view: vec4f;

  struct Point {
    @builtin(position) place: vec4f,
    @location(0) ground: vec3f,
    @location(1) normal: vec3f,
  }

  fn height(x: i32, y: i32) -> f32 {
    return heights[u32(y & ${N - 1}) * ${N}u + u32(x & ${N - 1})].x;
  }

  // Two triangles for each square of the grid, which is repeated to the horizon.
  @vertex
  fn point(@builtin(vertex_index) vertex: u32, @builtin(instance_index) tile: u32) -> Point {
    let square = vertex / 6u;
    let corner = array(vec2i(0, 0), vec2i(1, 0), vec2i(0, 1), vec2i(0, 1), vec2i(1, 0), vec2i(1, 1))[vertex % 6u];
    let at = (vec2i(i32(square % ${NET}u), i32(square / ${NET}u)) + corner) * ${N / NET};
    let step = ${SIDE / N};
    let slope = vec2f(
      height(at.x + 1, at.y) - height(at.x - 1, at.y),
      height(at.x, at.y + 1) - height(at.x, at.y - 1),
    ) / (2.0 * step);
    let tiles = vec2f(f32(tile % ${TILES[0]}u) - ${(TILES[0] - 1) / 2}.0, f32(tile / ${TILES[0]}u));
    let flat = (vec2f(at) / ${N}.0 + tiles - vec2f(0.5, 0.0)) * ${SIDE}.0;
    let ground = vec3f(flat.x, height(at.x, at.y), flat.y);
    // Seen from 14 m above the water, a little downwards.
    let eye = ground - vec3f(0.0, 14.0, 0.0);
    let ahead = eye.z * 0.985 - eye.y * 0.174;
    let up = eye.y * 0.985 + eye.z * 0.174;
    var result: Point;
    result.place = vec4f(eye.x * 1.4 / view.y, up * 1.4, ahead - 1.0, ahead);
    result.ground = ground;
    result.normal = normalize(vec3f(-slope.x, 1.0, -slope.y));
    return result;
  }

  @fragment
  fn shade(point: Point) -> @location(0) vec4f {
    let normal = normalize(point.normal);
    let look = normalize(point.ground - vec3f(0.0, 14.0, 0.0));
    let facing = max(0.0, dot(-look, normal));
    // Schlick's approximation for water.
    let mirrored = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    let away = reflect(look, normal);
    let sky = mix(vec3f(0.66, 0.77, 0.87), vec3f(0.2, 0.42, 0.7), clamp(away.y, 0.0, 1.0));
    let sun = pow(max(0.0, dot(away, normalize(vec3f(0.25, 0.35, 0.9)))), 220.0);
    let water = mix(vec3f(0.01, 0.07, 0.11), vec3f(0.04, 0.3, 0.32), clamp(0.35 + 0.18 * point.ground.y, 0.0, 1.0));
    let colour = mix(water, sky, mirrored) + 1.5 * sun * vec3f(1.0, 0.9, 0.7);
    let mist = 1.0 - exp(-length(point.ground.xz) / 420.0);
    return vec4f(mix(colour, vec3f(0.66, 0.77, 0.87), mist), 1.0);
  }`;

/**
 * Makes an ocean.
 * @param {GPUDevice} gpu the program's own device
 * @param {typeof import('omnifft').openDevice} openDevice
 * @returns how high the waves of the first frame are, and how high they should be by Parseval's theorem; `show`, which draws
 * them on a canvas from then on; `picture`, which draws one frame as an `ImageData`
 */
export async function makeOcean(gpu, openDevice) {
  const device = await openDevice('webgpu', { device: gpu });
  const plan = await device.plan({ size: [N, N], directions: 'inverse' });
  const buffer = (size, usage) => gpu.createBuffer({ size, usage });
  const start = buffer(16 * N * N, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
  const spectrum = buffer(plan.output.bytes, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
  const heights = buffer(plan.input.bytes, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
  const view = buffer(16, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
  gpu.queue.writeBuffer(start, 0, waves());
  const move = moving(gpu, [start, spectrum, view]);

  /** @param draw appended behind the transform */
  const frame = async (seconds, aspect, draw) => {
    gpu.queue.writeBuffer(view, 0, new Float32Array([seconds, aspect, 0, 0]));
    const encoder = gpu.createCommandEncoder();
    move(encoder);
    await plan.enqueue('inverse', { input: spectrum, output: heights, encoder });
    draw(encoder);
    gpu.queue.submit([encoder.finish()]);
  };

  await frame(0, 1, () => undefined);
  const rms = rootMeanSquare(new Float32Array(await read(gpu, heights)), N * N);
  const expected = rootMeanSquare(new Float32Array(await read(gpu, spectrum)), 1);

  return {
    ...{ size: N, rms, expected },
    show(canvas) {
      const context = canvas.getContext('webgpu');
      const format = navigator.gpu.getPreferredCanvasFormat();
      context.configure({ device: gpu, format });
      const draw = drawing(gpu, format, [heights, view]);
      const next = async (milliseconds) => {
        const [width, height] = [Math.max(1, canvas.clientWidth), Math.max(1, canvas.clientHeight)];
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        await frame(milliseconds / 1000, width / height, (encoder) => draw(encoder, context.getCurrentTexture()));
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    },
    async picture(width, height, seconds = 0) {
      const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC;
      const texture = gpu.createTexture({ size: [width, height], format: 'rgba8unorm', usage });
      const draw = drawing(gpu, texture.format, [heights, view]);
      // Rows of a copy begin at multiples of 256 bytes.
      const row = 256 * Math.ceil(width / 64);
      const pixels = buffer(row * height, GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST);
      await frame(seconds, width / height, (encoder) => {
        draw(encoder, texture);
        encoder.copyTextureToBuffer({ texture }, { buffer: pixels, bytesPerRow: row }, [width, height]);
      });
      const bytes = await read(gpu, pixels);
      texture.destroy();
      pixels.destroy();
      const image = new ImageData(width, height);
      for (let y = 0; y < height; y++) image.data.set(new Uint8Array(bytes, y * row, 4 * width), 4 * width * y);
      return image;
    },
  };
}

/** Of every wave k its beginning, and that of −k: re, im, re, im. */
function waves() {
  const one = new Float32Array(2 * N * N);
  const speed = Math.hypot(WIND.x, WIND.y);
  /** The longest waves that such a wind makes. */
  const longest = speed ** 2 / GRAVITY;
  for (let n = 0; n < N * N; n++) {
    const [kx, ky] = [n % N, Math.floor(n / N)].map((k) => ((k < N / 2 ? k : k - N) * 2 * Math.PI) / SIDE);
    const k = Math.hypot(kx, ky);
    if (k === 0) continue;
    const along = (kx * WIND.x + ky * WIND.y) / (k * speed);
    const power = (Math.exp(-1 / (k * longest) ** 2) / k ** 4) * along ** 2 * Math.exp(-((k * 0.6) ** 2));
    // Waves against the wind are few.
    const height = STRENGTH * Math.sqrt(power / 2) * (along < 0 ? 0.3 : 1);
    // Two normal numbers by the method of Box and Muller.
    const [radius, angle] = [Math.sqrt(-2 * Math.log(1 - Math.random())), 2 * Math.PI * Math.random()];
    one[2 * n] = height * radius * Math.cos(angle);
    one[2 * n + 1] = height * radius * Math.sin(angle);
  }
  const both = new Float32Array(4 * N * N);
  for (let n = 0; n < N * N; n++) {
    const against = ((N - Math.floor(n / N)) % N) * N + ((N - (n % N)) % N);
    // The conjugate of what runs against it, which is what makes the sum real.
    both.set([one[2 * n], one[2 * n + 1], one[2 * against], -one[2 * against + 1]], 4 * n);
  }
  return both;
}

function moving(gpu, buffers) {
  const module = gpu.createShaderModule({ code: MOVE });
  const pipeline = gpu.createComputePipeline({ layout: 'auto', compute: { module } });
  const group = groupOf(gpu, pipeline, buffers);
  return (encoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups((N * N) / 64);
    pass.end();
  };
}

/** Draws the heights into a texture. */
function drawing(gpu, format, buffers) {
  const module = gpu.createShaderModule({ code: DRAW });
  const pipeline = gpu.createRenderPipeline({
    layout: 'auto',
    vertex: { module },
    fragment: { module, targets: [{ format }] },
    depthStencil: { format: 'depth24plus', depthWriteEnabled: true, depthCompare: 'less' },
  });
  const group = groupOf(gpu, pipeline, buffers);
  let depth;
  return (encoder, texture) => {
    const size = [texture.width, texture.height];
    if (depth?.width !== texture.width || depth.height !== texture.height) {
      depth?.destroy();
      depth = gpu.createTexture({ size, format: 'depth24plus', usage: GPUTextureUsage.RENDER_ATTACHMENT });
    }
    const ends = { depthClearValue: 1, depthLoadOp: 'clear', depthStoreOp: 'discard' };
    const pass = encoder.beginRenderPass({
      colorAttachments: [{ view: texture.createView(), clearValue: SKY, loadOp: 'clear', storeOp: 'store' }],
      depthStencilAttachment: { view: depth.createView(), ...ends },
    });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.draw(6 * NET * NET, TILES[0] * TILES[1]);
    pass.end();
  };
}

function groupOf(gpu, pipeline, buffers) {
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  return gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
}

async function read(gpu, buffer) {
  const copy = gpu.createBuffer({ size: buffer.size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = gpu.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
  gpu.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const bytes = copy.getMappedRange().slice(0);
  copy.destroy();
  return bytes;
}

function rootMeanSquare(numbers, count) {
  return Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0) / count);
}
