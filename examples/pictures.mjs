// Grey pictures for the examples: read from PNG, written side by side.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { decode, encode } from 'fast-png';

/** A part of a picture, as grey values from 0 to 1 (Rec. 709 luma). */
export async function readGrey(path, { left = 0, top = 0, width, height }) {
  const { data, channels, width: whole } = decode(await readFile(new URL(path, import.meta.url)));
  return Float32Array.from({ length: width * height }, (_, n) => {
    const at = channels * ((top + Math.floor(n / width)) * whole + left + (n % width));
    return (0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2]) / 255;
  });
}

/** Pictures of one size, side by side. @returns where the file is */
export async function writeGrey(name, pictures, width, height) {
  const data = new Uint8Array(width * pictures.length * height);
  pictures.forEach((picture, column) => {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const value = Math.round(255 * picture[y * width + x]);
        data[(y * pictures.length + column) * width + x] = Math.min(255, Math.max(0, value));
      }
    }
  });
  const file = new URL(`../out/${name}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, encode({ width: width * pictures.length, height, data, channels: 1, depth: 8 }));
  return fileURLToPath(file);
}
