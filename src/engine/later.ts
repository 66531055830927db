/**
 * Code that is loaded when a problem asks for it. Where all of the library is at hand, as in Node, there is none; the build for
 * browsers leaves modules out of what a page loads first (scripts/parts.mjs) and puts functions in their place that ask
 * here for the part that they belong to.
 */
import { FftError } from '../problem/errors.ts';

type Loaders = Readonly<Record<string, () => Promise<object>>>;

const loaded = new Map<string, object>();
/** None where nothing can be loaded later, as on an audio thread. */
let loaders: Loaders = {};

/** A part is asked for that is not there. To callers who cannot wait it says what to do. */
class NotLoaded extends FftError {
  readonly part: string;

  constructor(part: string) {
    super(
      'not-loaded',
      `The code for ${part} has not been loaded, which takes waiting: await device.plan() for such a problem once, or ` +
        "open the device with openCpuSync() of 'omnifft/sync', which has it all.",
    );
    this.part = part;
  }
}

/** The functions of a part, for what stands in their place. @throws FftError `not-loaded` */
export function partOf<T extends object>(part: string): T {
  const module = loaded.get(part);
  if (!module) throw new NotLoaded(part);
  return module as T;
}

/** Parts that are there from the beginning. */
export function provideParts(parts: Readonly<Record<string, object>>): void {
  for (const [part, module] of Object.entries(parts)) loaded.set(part, module);
}

/** How those are loaded that are not. */
export function loadPartsBy(known: Loaders): void {
  loaders = known;
}

/**
 * What a function gives when all that it needs is there: it is called again after each part that it lacked. It must leave nothing
 * behind when it throws.
 * @throws FftError (as a rejection) `not-loaded` where a part cannot be loaded, and what the function throws
 */
export async function whenLoaded<T>(compute: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await compute();
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      await load(error.part, error);
    }
  }
}

async function load(part: string, missing: FftError): Promise<void> {
  const loader = loaders[part];
  if (!loader) throw missing;
  try {
    loaded.set(part, await loader());
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new FftError('not-loaded', `The code for ${part} could not be loaded: ${why}`, { cause });
  }
}
