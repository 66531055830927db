/** The grid of a kernel: its groups in up to three dimensions of a launch, and over several launches. */

export interface Grid {
  /** Groups in each dimension of a launch. */
  readonly dimensions: readonly [x: number, y: number, z: number];
  /** Launches of equal size; together they may have more groups than the kernel. */
  readonly launches: number;
}

/** The most groups in y and z that every device allows. */
const MOST_GROUPS_IN_Y_OR_Z = 65535;
/** The most launches of a kernel, since each has arguments of its own. */
const MOST_LAUNCHES = 65535;

/**
 * @param most groups in one dimension
 * @param least launches at least, but no more than groups
 * @throws RangeError if too many launches are needed
 */
export function grid(groups: number, most: number, least = 1): Grid {
  if (most < 1) throw new RangeError('a launch has to have room for one group, and a cluster of blocks counts as one');
  const behind = Math.min(most, MOST_GROUPS_IN_Y_OR_Z);
  const launches = Math.max(Math.min(least, groups), Math.ceil(groups / (most * behind * behind)));
  if (launches > MOST_LAUNCHES) {
    throw new RangeError(
      `${groups} groups take ${launches} launches of three dimensions of at most ${most}; there may be ${MOST_LAUNCHES}`,
    );
  }
  const dimensions = fold(Math.ceil(groups / launches), most, behind);
  return { dimensions, launches: Math.ceil(groups / groupsOf({ dimensions })) };
}

/** Groups of one launch. */
export function groupsOf({ dimensions: [x, y, z] }: Pick<Grid, 'dimensions'>): number {
  return x * y * z;
}

/** Up to three dimensions, no more than needed, with as few surplus groups as possible. */
function fold(groups: number, most: number, behind: number): [x: number, y: number, z: number] {
  if (groups <= most) return [groups, 1, 1];
  const [x, rest] = splitCount(groups, most);
  if (rest <= behind) return [x, rest, 1];
  const [y, z] = splitCount(rest, behind);
  if (z <= behind) return [x, y, z];
  const layers = Math.ceil(groups / most);
  return [most, behind, Math.ceil(layers / behind)];
}

function splitCount(count: number, most: number): [inner: number, outer: number] {
  const least = Math.ceil(count / most);
  for (let outer = least; outer <= 2 * least; outer++) if (count % outer === 0) return [count / outer, outer];
  return [Math.ceil(count / least), least];
}
