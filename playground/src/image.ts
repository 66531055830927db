/** A picture, its spectrum, and what is left of it where the spectrum is painted over. */
import { openDevice } from 'omnifft';
import { offerCode } from './code.ts';
import { byId } from './dom.ts';
import { colour } from './heatmap.ts';
import { duration } from './numbers.ts';

/** Pixels along each side. */
export const N = 256;
const HALF = N / 2 + 1;

const CODE = `import { openDevice } from 'omnifft';

const device = await openDevice('cpu', { threads: 1 });
const plan = await device.plan({ size: [${N}, ${N}], transform: 'r2c', normalize: true });

/** A picture of ${N} × ${N} grey values; mask holds a factor for each of the ${HALF} × ${N} bins. */
export function filtered(picture, mask) {
  const bins = plan.forwardSync(picture);
  mask.forEach((factor, k) => {
    bins[2 * k] *= factor;
    bins[2 * k + 1] *= factor;
  });
  return plan.inverseSync(bins);
}
`;

export type Picture = Float32Array<ArrayBuffer>;

export async function startImage(): Promise<void> {
  const device = await openDevice('cpu', { threads: 1 });
  const plan = await device.plan({ size: [N, N], transform: 'r2c', normalize: true });
  const [before, spectrum, after] = ['image-in', 'image-spectrum', 'image-out'].map((id) =>
    contextOf(byId<HTMLCanvasElement>(id)),
  ) as [CanvasRenderingContext2D, CanvasRenderingContext2D, CanvasRenderingContext2D];
  /** Of the whole spectrum, frequency 0 in the middle. */
  const mask = new Float32Array(N * N).fill(1);
  const left = new Float32Array(2 * HALF * N);
  const result = new Float32Array(N * N) as Picture;
  let picture = testPicture();
  let bins = plan.forwardSync(picture) as Picture;

  const brush = startBrush(spectrum.canvas, mask, () => filter());
  const filter = () => {
    const start = performance.now();
    for (let y = 0; y < N; y++) {
      for (let x = 0; x < HALF; x++) {
        const k = 2 * (y * HALF + x);
        const factor = mask[((y + N / 2) % N) * N + ((x + N / 2) % N)]!;
        left[k] = bins[k]! * factor;
        left[k + 1] = bins[k + 1]! * factor;
      }
    }
    plan.inverseSync(left, result);
    byId('image-time').textContent = `Masked and transformed back in ${duration(performance.now() - start)}.`;
    drawGrey(after, result);
    drawSpectrum(spectrum, bins, mask);
    const at = brush();
    if (at) drawBrush(spectrum, at);
    document.body.dataset.image = String(Number(document.body.dataset.image ?? 0) + 1);
  };
  const show = (next: Picture) => {
    picture = next;
    bins = plan.forwardSync(picture) as Picture;
    drawGrey(before, picture);
    filter();
  };
  const maskBy = (factor: (distance: number) => number) => {
    for (let y = 0; y < N; y++) for (let x = 0; x < N; x++) mask[y * N + x] = factor(Math.hypot(x - N / 2, y - N / 2));
    filter();
  };
  byId('image-all').addEventListener('click', () => maskBy(() => 1));
  byId('image-low').addEventListener('click', () => maskBy((distance) => Math.exp(-((distance / 18) ** 2))));
  byId('image-high').addEventListener('click', () => maskBy((distance) => 1 - Math.exp(-((distance / 10) ** 2))));
  byId('image-file').addEventListener('change', async ({ target }) => {
    const file = (target as HTMLInputElement).files?.[0];
    const error = byId('image-error');
    error.textContent = '';
    try {
      if (file) show(await readPicture(file));
    } catch {
      error.textContent = `The browser cannot decode '${file?.name}' as a picture.`;
    }
  });
  offerCode(byId('image-code'), CODE);
  show(picture);
}

export function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  canvas.width = canvas.height = N;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('This browser draws nothing on a canvas.');
  return context;
}

/** A place of the spectrum, in its pixels. */
interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Pixels that an arrow key moves the brush by; with Shift, more. */
const [STEP, LEAP] = [2, 16];

/**
 * Paints on the mask, and on its mirror image: of a real picture a wave is two bins. By pointer, or by keyboard: the arrows
 * move the brush, the space bar paints.
 *
 * @returns where the brush of the keyboard is, while it is used
 */
function startBrush(canvas: HTMLCanvasElement, mask: Float32Array, changed: () => void): () => Spot | undefined {
  let brush: Spot = { x: N / 2 + STEP * 8, y: N / 2 };
  let pressed = false;
  const paint = ({ x: cx, y: cy }: Spot) => {
    const radius = byId<HTMLInputElement>('image-brush').valueAsNumber;
    const value = byId<HTMLInputElement>('image-restore').checked ? 1 : 0;
    for (let y = 0; y < N; y++) {
      for (let x = 0; x < N; x++) {
        if (Math.hypot(x + 0.5 - cx, y + 0.5 - cy) > radius) continue;
        mask[y * N + x] = mask[((N - y) % N) * N + ((N - x) % N)] = value;
      }
    }
  };
  const point = ({ offsetX, offsetY, buttons }: PointerEvent) => {
    if (buttons === 0) return;
    const scale = N / canvas.clientWidth;
    paint({ x: offsetX * scale, y: offsetY * scale });
    changed();
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    point(event);
  });
  canvas.addEventListener('pointermove', point);
  canvas.addEventListener('keydown', (event) => {
    const { key, shiftKey } = event;
    const by = (name: string) => (key === name ? (shiftKey ? LEAP : STEP) : 0);
    const [right, down] = [by('ArrowRight') - by('ArrowLeft'), by('ArrowDown') - by('ArrowUp')];
    if (key !== ' ' && right === 0 && down === 0) return;
    event.preventDefault();
    const within = (value: number) => Math.min(N - 1, Math.max(0, value));
    brush = { x: within(brush.x + right), y: within(brush.y + down) };
    pressed ||= key === ' ';
    if (pressed) paint(brush);
    changed();
  });
  canvas.addEventListener('keyup', ({ key }) => {
    if (key === ' ') pressed = false;
  });
  for (const end of ['focus', 'blur']) {
    canvas.addEventListener(end, () => {
      pressed = false;
      changed();
    });
  }
  return () => (canvas.matches(':focus-visible') ? brush : undefined);
}

/** A ring where the brush is, light on dark. */
function drawBrush(context: CanvasRenderingContext2D, { x, y }: Spot): void {
  for (const [style, width] of [
    ['#000', 3],
    ['#fff', 1],
  ] as const) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, byId<HTMLInputElement>('image-brush').valueAsNumber, 0, 2 * Math.PI);
    context.stroke();
  }
}

/** Shapes under stripes: two spots of the spectrum, and painting over them takes the stripes away. */
export function testPicture(): Picture {
  const canvas = document.createElement('canvas');
  const context = contextOf(canvas);
  const sky = context.createLinearGradient(0, 0, 0, N);
  sky.addColorStop(0, '#dde');
  sky.addColorStop(1, '#555');
  context.fillStyle = sky;
  context.fillRect(0, 0, N, N);
  context.fillStyle = '#222';
  context.beginPath();
  context.arc(176, 84, 44, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = '#fff';
  context.font = 'bold 76px system-ui, sans-serif';
  context.fillText('FFT', 26, 200);
  const picture = greyOf(context);
  for (let y = 0; y < N; y++) {
    for (let x = 0; x < N; x++) picture[y * N + x]! += 0.18 * Math.cos((2 * Math.PI * (44 * x + 28 * y)) / N);
  }
  return picture;
}

export async function readPicture(file: File): Promise<Picture> {
  const bitmap = await createImageBitmap(file);
  const context = contextOf(document.createElement('canvas'));
  const side = Math.min(bitmap.width, bitmap.height);
  context.drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side, 0, 0, N, N);
  bitmap.close();
  return greyOf(context);
}

/** Grey values from 0 to 1 (Rec. 709 luma). */
function greyOf(context: CanvasRenderingContext2D): Picture {
  const { data } = context.getImageData(0, 0, N, N);
  return Float32Array.from({ length: N * N }, (_, n) => {
    const [red, green, blue] = [data[4 * n]!, data[4 * n + 1]!, data[4 * n + 2]!];
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
  });
}

export function drawGrey(context: CanvasRenderingContext2D, values: Float32Array): void {
  const image = context.createImageData(N, N);
  for (let n = 0; n < N * N; n++) image.data.set([255 * values[n]!, 255 * values[n]!, 255 * values[n]!, 255], 4 * n);
  context.putImageData(image, 0, 0);
}

/** Frequency 0 in the middle; what the mask takes away is dark. */
function drawSpectrum(context: CanvasRenderingContext2D, bins: Float32Array, mask: Float32Array): void {
  const image = context.createImageData(N, N);
  for (let y = 0; y < N; y++) {
    for (let x = 0; x < N; x++) {
      const [kx, ky] = [(x + N / 2) % N, (y + N / 2) % N];
      // The half that a real transform leaves out is the mirror image of the other.
      const at = kx < HALF ? ky * HALF + kx : ((N - ky) % N) * HALF + (N - kx);
      const level = Math.log10(Math.hypot(bins[2 * at]!, bins[2 * at + 1]!) + 1e-3) / 4.5 + 0.1;
      const factor = 0.12 + 0.88 * mask[y * N + x]!;
      const [red, green, blue] = colour(level) as [number, number, number];
      image.data.set([factor * red, factor * green, factor * blue, 255], 4 * (y * N + x));
    }
  }
  context.putImageData(image, 0, 0);
}
