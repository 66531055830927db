/** Lifetimes of WebGPU's objects, and the threads that may use them, in child processes, because these may crash. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { noWebGpu } from '../../../test/support/webgpu.ts';

const index = JSON.stringify(fileURLToPath(new URL('../../index.ts', import.meta.url)));
const software = JSON.stringify(fileURLToPath(new URL('./software.ts', import.meta.url)));

/** The output of a program; a crash of its process is an error. */
async function printedBy(program: string): Promise<string[]> {
  const given = ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, given, { timeout: 50_000 });
  return stdout.trim().split('\n');
}

const transform = `
  const plan = await device.plan({ size: [8], directions: 'forward' });
  console.log((await plan.forward(new Float32Array(16).fill(1)))[0]);`;

/** Runs a module in worker threads, all at once, and waits for them. */
const inWorkers = (module: string, workers: number) => `
  import { Worker } from 'node:worker_threads';
  const text = ${JSON.stringify(module)};
  const workerData = import.meta.resolve('tsx/esm/api');
  await Promise.all(Array.from({ length: ${workers} }, () => new Promise((ended, failed) => {
    const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(text)), { workerData });
    worker.on('error', failed);
    worker.on('exit', ended);
  })));`;

const openedInWorker = `
  const { workerData } = await import('node:worker_threads');
  (await import(workerData)).register();
  const { openDevice } = await import('file://' + ${index});
  const device = await openDevice('webgpu', { software: true });`;

const withoutKoffi = `
  import module from 'node:module';
  const hide = 'export const resolve = (name, context, next) => ' +
    '{ if (name === "koffi") throw new Error("not installed"); return next(name, context); }';
  module.register('data:text/javascript,' + encodeURIComponent(hide));`;

describe.skipIf(noWebGpu)('the GPU that a device came from', () => {
  it.each(['closed', 'left open'])('may be given and forgotten, devices %s', async (how) => {
    const printed = await printedBy(`
      import { createRequire } from 'node:module';
      import { openDevice } from ${index};
      import { softwareDriver } from ${software};
      const require = createRequire(${index});
      const { driver, loader } = await softwareDriver();
      process.env.VK_DRIVER_FILES = driver;
      require('koffi').load(loader, { global: true });
      const collect = async () => {
        for (let n = 0; n < 5; n++) {
          gc();
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      const device = await openDevice('webgpu', { gpu: require('webgpu').create([]) });
      await collect();
      ${transform}
      await collect();
      ${how === 'closed' ? 'device.close();' : ''}
      await collect();
      console.log('there');`);
    expect(printed).toEqual(['8', 'there']);
  });
});

describe.skipIf(noWebGpu)('SwiftShader in worker threads', () => {
  it('opens in each of several, and in one that leaves the device open', async () => {
    const printed = await printedBy(inWorkers(`${openedInWorker}${transform} device.close();`, 3));
    expect(printed).toEqual(['8', '8', '8']);
    expect(await printedBy(inWorkers(`${openedInWorker}${transform}`, 1))).toEqual(['8']);
  });

  it('says what to do where it cannot set the environment of the process', async () => {
    const refusal = 'catch (error) { console.log(error.code, error.message); }';
    const printed = await printedBy(inWorkers(`${withoutKoffi} try {${openedInWorker}} ${refusal}`, 1));
    expect(printed.join()).toMatch(/^device-unavailable .*npm install koffi.*SHARE_ENV/);
  });
});
