/** A picture convolved with a kernel that one drags: a plan that convolves, on the CPU or the GPU. */
import { listDevices, openDevice } from 'omnifft';
import { offerCode } from './code.ts';
import { byId, html } from './dom.ts';
import { contextOf, drawGrey, N, type Picture, readPicture, testPicture } from './image.ts';
import { duration } from './numbers.ts';
import { slideTo } from './sliders.ts';

type Filter = 'blur' | 'sharpen' | 'edges';
type Kind = 'cpu' | 'webgpu';

const CODE = `import { openDevice } from 'omnifft';

const device = await openDevice('cpu'); // or 'webgpu'
const plan = await device.plan({ size: [${N}, ${N}], transform: 'r2c', convolution: {} });

/** A picture of ${N} × ${N} grey values, and a kernel as large whose middle is at the first pixel. */
export async function filtered(picture, values) {
  const kernel = await plan.prepareKernel(values);
  const result = await plan.convolve(picture, kernel);
  kernel.free();
  return result;
}
`;

async function open(kind: Kind) {
  const device = await openDevice(kind, kind === 'cpu' ? { threads: 1 } : {});
  return { device, plan: await device.plan({ size: [N, N], transform: 'r2c', convolution: {} }) };
}

export async function startFilter(): Promise<void> {
  const [before, after] = ['filter-in', 'filter-out'].map((id) => contextOf(byId<HTMLCanvasElement>(id))) as [
    CanvasRenderingContext2D,
    CanvasRenderingContext2D,
  ];
  const [device, filter] = ['filter-device', 'filter-kind'].map((id) => byId<HTMLSelectElement>(id)) as [
    HTMLSelectElement,
    HTMLSelectElement,
  ];
  const width = byId<HTMLInputElement>('filter-width');
  let picture: Picture = testPicture();
  let opened: { readonly kind: Kind; readonly on: Awaited<ReturnType<typeof open>> } | undefined;
  const run = async () => {
    const kind = device.value as Kind;
    if (opened?.kind !== kind) {
      opened?.on.device.close();
      opened = undefined;
      opened = { kind, on: await open(kind) };
    }
    const { plan } = opened.on;
    const chosen = filter.value as Filter;
    const values = kernelOf(chosen, width.valueAsNumber);
    const start = performance.now();
    const kernel = await plan.prepareKernel(values);
    const result = await plan.convolve(picture, kernel);
    const taken = duration(performance.now() - start);
    kernel.free();
    byId('filter-time').textContent = `Kernel prepared and picture convolved in ${taken} on ${kind}.`;
    // Edges are light or dark on grey.
    drawGrey(after, chosen === 'edges' ? result.map((value) => value + 0.5) : result);
    document.body.dataset.filter = `${chosen} ${width.value} ${kind}`;
  };
  const changed = latest(run);
  for (const { kind } of (await listDevices()).filter(({ available }) => available)) {
    device.append(html('option', { value: kind }, kind));
  }
  for (const field of [device, filter, width]) field.addEventListener('input', changed);
  startDrag(after.canvas, width);
  byId('filter-file').addEventListener('change', async ({ target }) => {
    const file = (target as HTMLInputElement).files?.[0];
    if (!file) return;
    try {
      picture = await readPicture(file);
      drawGrey(before, picture);
      changed();
    } catch {
      byId('filter-error').textContent = `The browser cannot decode '${file.name}' as a picture.`;
    }
  });
  offerCode(byId('filter-code'), CODE);
  drawGrey(before, picture);
  changed();
}

/** Runs work again and again while it is asked for, one after another: what was asked for meanwhile is one more run. */
function latest(work: () => Promise<void>): () => void {
  let running = false;
  let wanted = false;
  return async () => {
    wanted = true;
    if (running) return;
    running = true;
    const error = byId('filter-error');
    while (wanted) {
      wanted = false;
      error.textContent = '';
      await work().catch((cause) => {
        error.textContent = String(cause?.message ?? cause);
      });
    }
    running = false;
  };
}

/** Dragging across the result sets the width, from nothing at the left to the most at the right. */
function startDrag(canvas: HTMLCanvasElement, width: HTMLInputElement): void {
  const drag = ({ offsetX, buttons }: PointerEvent) => {
    if (buttons === 0) return;
    const share = Math.min(1, Math.max(0, offsetX / canvas.clientWidth));
    slideTo(width, Number(width.min) + share * (Number(width.max) - Number(width.min)));
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag(event);
  });
  canvas.addEventListener('pointermove', drag);
}

/** A Gaussian bell, or what it takes away: twice that and the picture, or four times that alone. It goes round the first pixel. */
function kernelOf(filter: Filter, sigma: number): Picture {
  const bell = new Float32Array(N * N);
  for (let y = 0; y < N; y++) {
    for (let x = 0; x < N; x++) {
      const distance = Math.hypot(Math.min(x, N - x), Math.min(y, N - y));
      bell[y * N + x] = Math.exp(-0.5 * (distance / sigma) ** 2);
    }
  }
  const sum = bell.reduce((a, b) => a + b);
  const [itself, blurred] = { blur: [0, 1], sharpen: [3, -2], edges: [4, -4] }[filter] as [number, number];
  const kernel = bell.map((value) => (blurred * value) / sum);
  kernel[0]! += itself;
  return kernel;
}
