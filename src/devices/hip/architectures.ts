/** The architectures that AMD's compiler knows: HIPRTC crashes on unknown ones and cannot list the known ones. */
import { FftError } from '../../problem/errors.ts';
import { type LibraryRequest, loadKoffi, openLibrary } from '../native/library.ts';

/** The size in bytes of a buffer for a name, longer than any of them. */
const NAME_BYTES = 64;

/**
 * Names of architectures such as `gfx90a`, from the library behind HIPRTC (comgr); undefined if it is not installed.
 * @param request how to load the library
 */
export async function hipArchitectures(request: LibraryRequest): Promise<string[] | undefined> {
  try {
    const [koffi, library] = await Promise.all([loadKoffi(), openLibrary(request)]);
    const count = new BigUint64Array(1);
    library.func('amd_comgr_get_isa_count', 'int', ['void *'])(count);
    const nameOf = library.func('amd_comgr_get_isa_name', 'int', ['size_t', 'void *']);
    const pointer = new BigUint64Array(1);
    return Array.from({ length: Number(count[0]) }, (_, n) => {
      nameOf(n, pointer);
      const bytes = new Uint8Array(koffi.view(pointer[0]!, NAME_BYTES));
      // A full name is `amdgcn-amd-amdhsa--gfx90a:sramecc+`.
      const text = new TextDecoder('latin1').decode(bytes.subarray(0, bytes.indexOf(0)));
      return /gfx\w+/.exec(text)?.[0] ?? text;
    });
  } catch (error) {
    if (error instanceof FftError) return undefined;
    throw error;
  }
}
