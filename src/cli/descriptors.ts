/** Paths of open file descriptors, such as `/dev/stdout`, and targets of symbolic links. */

import { fstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

const NAMES = new RegExp(`^/(?:dev|proc/(?:self|${process.pid}))/fd/(\\d+)$`);

/**
 * The path at the end of symbolic links, whether or not a file exists there. The path of a file descriptor is such an end.
 * @throws Error `ELOOP`, as the system does
 */
export function followLinks(path: string): string {
  let place = path;
  // Linux follows 40 links at most.
  for (let links = 0; links <= 40; links++) {
    if (NAMES.test(place)) return place;
    const next = linkAt(place);
    if (next === undefined) return place;
    // `resolve` would drop the folder before `..`, which may be a link.
    place = isAbsolute(next) ? next : `${dirname(place)}/${next}`;
  }
  throw Object.assign(new Error(), { code: 'ELOOP' });
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The file descriptor of this process that a path names; undefined for an ordinary path, even if its file is open. */
export function descriptorOf(path: string): number | undefined {
  try {
    const name = NAMES.exec(followLinks(path))?.[1];
    const descriptor = Number(name);
    return name !== undefined && isSameFile(statSync(path), fstatSync(descriptor)) ? descriptor : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path names the standard output, or another descriptor of the same file. */
export function isStandardOutput(path: string): boolean {
  const descriptor = descriptorOf(path);
  return descriptor !== undefined && isSameFile(fstatSync(descriptor), fstatSync(1));
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}
