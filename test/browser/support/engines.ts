/**
 * Browsers with engines other than Chromium's, as Debian has them: Firefox (SpiderMonkey) and WebKit's MiniBrowser
 * (JavaScriptCore). Nothing steers them: they are told to open a page, and the page sends what it has found.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { softwareDriver } from '../../../src/devices/webgpu/software.ts';
import { findProgram, hidden } from '../../support/optional.ts';
import { serve } from './server.ts';

export interface Engine {
  readonly name: 'Firefox' | 'WebKit';
  readonly webgpu: boolean;
  /** What of it is not installed here. */
  readonly lacking: string | undefined;
  /** The browser, looking at a page, with a home of its own, and what it needs beside it. */
  start(url: string, home: string): Promise<ChildProcess[]>;
}

const PREFERENCES = {
  'browser.shell.checkDefaultBrowser': false,
  'browser.aboutwelcome.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.auto': false,
  'dom.webgpu.enabled': true,
  // A GPU in software is on it.
  'gfx.webgpu.ignore-blocklist': true,
};

/** @param environment beside that of this process. */
function launch(command: string, given: readonly string[], environment: Record<string, string>): ChildProcess {
  // A process group of its own, so that what it starts goes with it.
  return spawn(command, given, { stdio: 'ignore', detached: true, env: { ...process.env, ...environment } });
}

const firefoxProgram = findProgram(['firefox-esr', 'firefox']);

const firefox: Engine = {
  name: 'Firefox',
  webgpu: true,
  lacking: firefoxProgram ? undefined : 'neither firefox-esr nor firefox is on the PATH',
  async start(url, home) {
    const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});`);
    writeFileSync(join(home, 'user.js'), lines.join('\n'));
    // Vulkan on the processor for its WebGPU, where we have that; it takes the loader of the system.
    const vulkan = await softwareDriver().then(
      ({ driver }) => ({ VK_DRIVER_FILES: driver }),
      () => ({}),
    );
    const given = ['--headless', '--no-remote', '--profile', home, url];
    return [launch(firefoxProgram!, given, { HOME: home, ...vulkan })];
  },
};

/** It is on no PATH. */
function findMiniBrowser(): string | undefined {
  if (hidden) return undefined;
  const list = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []).map((name) => join(folder, name));
  return list('/usr/lib')
    .filter((folder) => folder.endsWith('-linux-gnu'))
    .flatMap(list)
    .filter((folder) => basename(folder).startsWith('webkit2gtk-4'))
    .map((folder) => join(folder, 'MiniBrowser'))
    .find((path) => existsSync(path));
}

const miniBrowser = findMiniBrowser();
const xvfb = findProgram(['Xvfb']);

const webkit: Engine = {
  name: 'WebKit',
  webgpu: false,
  lacking: miniBrowser && xvfb ? undefined : `there is no ${miniBrowser ? 'Xvfb' : 'MiniBrowser'}`,
  async start(url, home) {
    // It needs a display, if one that nobody sees. Xvfb says which number was free.
    const screen = spawn(xvfb!, ['-displayfd', '3', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const ended = once(screen, 'exit').then(() => {
      throw new Error('Xvfb does not start');
    });
    const [number] = (await Promise.race([once(screen.stdio[3]!, 'data'), ended])) as [Buffer];
    ended.catch(() => undefined);
    const browser = launch(miniBrowser!, [url], {
      DISPLAY: `:${number.toString().trim()}`,
      HOME: home,
      LIBGL_ALWAYS_SOFTWARE: '1',
      // Safari has shared memory on isolated pages; this build has to be told.
      JSC_useSharedArrayBuffer: '1',
      // Tests run as root in containers, where its sandbox cannot be set up; the page is our own.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    });
    return [browser, screen];
  },
};

export const engines: readonly Engine[] = [firefox, webkit];

/**
 * What a page finds in a browser, which is installed.
 * @param module of the test's own: runs in the page, and posts JSON to `report` of the same site.
 * @throws Error where the page reports nothing in time
 */
export async function reportFrom<T>(engine: Engine, module: string, milliseconds: number): Promise<T> {
  const site = await serve({ module });
  const home = mkdtempSync(join(tmpdir(), 'omnifft-browser-'));
  let processes: ChildProcess[] = [];
  let found: (report: string) => void;
  const report = new Promise<string>((resolve) => {
    found = resolve;
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'POST') {
      found(await bodyOf(request));
      return response.end();
    }
    // The rest is the site's, headers included; it has no page that runs nothing but the module.
    const given = await fetch(site.url + request.url!.slice(1));
    given.headers.forEach((value, name) => response.setHeader(name, value));
    const own = request.url === '/test';
    const body = own ? Buffer.from(PAGE) : Buffer.from(await given.arrayBuffer());
    response.setHeader('Content-Length', body.length);
    if (own) response.setHeader('Content-Type', 'text/html');
    response.writeHead(own ? 200 : given.status).end(body);
  };
  // What the browser still asks for while it ends gets no answer.
  const server = createServer((request, response) => answer(request, response).catch(() => response.destroy()));
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    processes = await engine.start(`http://127.0.0.1:${(server.address() as AddressInfo).port}/test`, home);
    const late = new Promise<never>((_, fail) => {
      timer = setTimeout(
        () => fail(new Error(`${engine.name} has reported nothing in ${milliseconds} ms`)),
        milliseconds,
      );
    });
    return JSON.parse(await Promise.race([report, late])) as T;
  } finally {
    clearTimeout(timer);
    for (const one of processes) await end(one);
    server.close();
    server.closeAllConnections();
    await site.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** Lets a process and all that it has started tidy up, but not for ever. */
async function end(started: ChildProcess): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-started.pid!, name);
    } catch {
      // Nobody is left.
    }
  };
  const running = started.exitCode === null && started.signalCode === null;
  const ended = running ? new Promise((resolve) => started.once('exit', resolve)) : Promise.resolve();
  signal('SIGTERM');
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))]);
  signal('SIGKILL');
}

const PAGE = '<!doctype html><title>omnifft</title><script type="module" src="dist/browser/module.js"></script>';

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) body += piece;
  return body;
}
