// The same pipeline in Node: `node examples/webgpu-pipeline/node.mjs` (after `npm start` or `npm run build`).

import { openDevice } from 'omnifft';
import { create } from 'webgpu';
import { runPipeline } from './pipeline.js';

// The adapter goes when nobody holds the entry to WebGPU any more.
const entry = create([]);
const adapter = await entry.requestAdapter();
if (!adapter) {
  console.log('There is no WebGPU adapter here: no GPU, or no Vulkan driver for it.');
  process.exit(1);
}
const gpu = await adapter.requestDevice();
const { found, expected } = await runPipeline(gpu, openDevice);
const right = found.filter((bin, batch) => bin === expected[batch]).length;
console.log(`${right} of ${found.length} right: ${found.join(' ')}`);
gpu.destroy();
process.exitCode = right === found.length ? 0 : 1;
