import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { missing } from '../../../test/support/optional.ts';
import { listDevices, openDevice } from '../../index.ts';
import { mayHaveGpu } from './host.ts';
import { softwareDriver } from './software.ts';

let home = '';
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

/** Addons and libraries that this process has loaded. */
function isLoaded(name: string): boolean {
  return readFileSync('/proc/self/maps', 'utf8').includes(name);
}

/** The reason why Dawn or SwiftShader cannot be loaded. A child process tries it, because this process must not have loaded them yet. */
async function noDawn(): Promise<string | undefined> {
  const { status, stderr } = spawnSync(process.execPath, ['-e', "import('webgpu')"], { encoding: 'utf8' });
  if (status !== 0) return /Error: .*/.exec(stderr)?.[0] ?? `Node ended with ${status}`;
  return softwareDriver().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

const concerned = process.platform === 'linux' && !(await mayHaveGpu());
const unable = concerned ? missing('webgpu', await noDawn()) : undefined;

describe.skipIf(!concerned || unable)('where Vulkan is installed and no GPU', () => {
  it('auto leaves the drivers alone, and whoever asks for what there is gets them', async () => {
    home = mkdtempSync(join(tmpdir(), 'omnifft-vulkan-'));
    const folder = join(home, 'vulkan', 'icd.d');
    mkdirSync(folder, { recursive: true });
    const { driver } = await softwareDriver();
    const { ICD } = JSON.parse(readFileSync(driver, 'utf8')) as { ICD: { library_path: string } };
    const library_path = join(dirname(driver), ICD.library_path);
    const icd = { file_format_version: '1.0.0', ICD: { ...ICD, library_path } };
    writeFileSync(join(folder, 'installed.json'), JSON.stringify(icd));
    vi.stubEnv('XDG_DATA_HOME', home);

    const device = await openDevice('auto');
    expect(device.kind).toBe('cpu');
    device.close();
    expect(isLoaded('dawn.node')).toBe(false);

    const found = (await listDevices()).find(({ kind }) => kind === 'webgpu');
    expect(isLoaded('dawn.node')).toBe(true);
    expect(found).toMatchObject({ available: true, software: true });
  });
});
