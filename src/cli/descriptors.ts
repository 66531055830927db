/**
 * Paths that name what this process has open, such as `/dev/stdout`, and where links lead.
 */

import { fstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

const NAMES = new RegExp(`^/(?:dev|proc/(?:self|${process.pid}))/fd/(\\d+)$`);

/**
 * The path at the end of symbolic links, whether or not there is anything. The name of a descriptor is such an end.
 * @throws Error `ELOOP` as the system does
 */
export function followLinks(path: string): string {
  let place = path;
  // As many as Linux follows.
  for (let links = 0; links <= 40; links++) {
    if (NAMES.test(place)) return place;
    const next = linkAt(place);
    if (next === undefined) return place;
    // Not by `resolve`: a folder before `..` may be a link, too.
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

/** The descriptor of this process that a path names. An ordinary path names none, whatever else has that file open. */
export function descriptorOf(path: string): number | undefined {
  try {
    const name = NAMES.exec(followLinks(path))?.[1];
    const descriptor = Number(name);
    return name !== undefined && isSameFile(statSync(path), fstatSync(descriptor)) ? descriptor : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path names the standard output, or a descriptor of the same file. */
export function isStandardOutput(path: string): boolean {
  const descriptor = descriptorOf(path);
  return descriptor !== undefined && isSameFile(fstatSync(descriptor), fstatSync(1));
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}
