/** WGSL on Dawn with SwiftShader. */
import { expect } from 'vitest';
import type { SpmdProgram } from '../../src/emit/spmd/tree/program.ts';
import { testAdapter } from './webgpu.ts';

/** A device that may run groups as large as the adapter can. */
export async function openGpu(): Promise<GPUDevice> {
  const adapter = await testAdapter();
  const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup } = adapter.limits;
  return adapter.requestDevice({
    requiredLimits: { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup },
  });
}

// WebGPU's own numbers: outside browsers they are not global.
const USAGE = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 };
const COMPUTE_STAGE = 4;
const MAP_READ_MODE = 1;

/** A buffer that holds what an array does: whole words. */
function bufferOf(device: GPUDevice, array: ArrayBufferView, usage: number): GPUBuffer {
  const words = new Uint8Array(4 * Math.ceil(array.byteLength / 4));
  words.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  const buffer = device.createBuffer({ size: words.byteLength, usage: usage | USAGE.COPY_SRC | USAGE.COPY_DST });
  device.queue.writeBuffer(buffer, 0, words);
  return buffer;
}

/**
 * Runs a program once.
 * @param data memory of its bindings, which changes where they are written.
 * @param starts the offsets that it is given.
 */
export async function runProgram(
  device: GPUDevice,
  program: SpmdProgram,
  data: readonly ArrayBufferView[],
  starts?: readonly number[],
): Promise<void> {
  const buffers = data.map((array) => bufferOf(device, array, USAGE.STORAGE));
  const entries: GPUBindGroupLayoutEntry[] = program.bindings.map(({ written }, binding) => ({
    binding,
    visibility: COMPUTE_STAGE,
    buffer: { type: written ? 'storage' : 'read-only-storage' },
  }));
  if (starts) {
    entries.push({ binding: entries.length, visibility: COMPUTE_STAGE, buffer: { type: 'uniform' } });
    const numbers = new Uint32Array(Math.ceil(starts.length / 4) * 4);
    numbers.set(starts);
    buffers.push(bufferOf(device, numbers, USAGE.UNIFORM));
  }
  device.pushErrorScope('validation');
  const layout = device.createBindGroupLayout({ entries });
  const shader = device.createShaderModule({ code: program.source });
  const { messages } = await shader.getCompilationInfo();
  expect(messages.map(({ message, lineNum }) => `${lineNum}: ${message}`)).toEqual([]);
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: shader, entryPoint: program.entry },
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  const group = device.createBindGroup({
    layout,
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(...program.groups);
  pass.end();
  const staging = data.map((array, b) => {
    if (!program.bindings[b]!.written) return undefined;
    const size = 4 * Math.ceil(array.byteLength / 4);
    const buffer = device.createBuffer({ size, usage: USAGE.MAP_READ | USAGE.COPY_DST });
    encoder.copyBufferToBuffer(buffers[b]!, 0, buffer, 0, size);
    return buffer;
  });
  device.queue.submit([encoder.finish()]);
  expect((await device.popErrorScope())?.message).toBe(undefined);
  for (const [b, buffer] of staging.entries()) {
    if (!buffer) continue;
    await buffer.mapAsync(MAP_READ_MODE);
    const { buffer: memory, byteOffset, byteLength } = data[b]!;
    new Uint8Array(memory, byteOffset, byteLength).set(new Uint8Array(buffer.getMappedRange(), 0, byteLength));
    buffer.destroy();
  }
  for (const buffer of buffers) buffer.destroy();
}
