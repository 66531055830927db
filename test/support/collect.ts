/** The engine's collector, for tests of what is kept alive. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

/** Resolves when what nobody holds has been collected; a few turns, because what weak references gave lives through one. */
export async function collect(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    gc();
  }
}
