/**
 * Suggestions for words that are not known: the word that corresponds to another library's word, or the nearest known one.
 */

/** Options under the names that NumPy, SciPy, MATLAB, librosa and PyTorch have for them, with our names, the likeliest first. */
const FOREIGN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  ...{ dim: ['axis', 'axes'], dims: ['axes', 'axis'], dimension: ['axis', 'axes'], axes: ['axis'], axis: ['axes'] },
  ...{ length: ['n', 'nperseg', 'size'], num: ['n'], npoints: ['n'], points: ['n', 'm'], nfft: ['size', 'n'] },
  ...{ fftlength: ['nfft', 'size'], shape: ['s', 'mode'], size: ['s', 'n', 'nperseg'] },
  ...{ normalize: ['norm', 'scaling'], normalization: ['norm', 'scaling'], scale: ['scaling', 'norm'] },
  ...{ ortho: ['norm'], kind: ['type'], dcttype: ['type'], dsttype: ['type'], workers: ['device'] },
  ...{ sr: ['fs', 'sampleRate'], rate: ['fs', 'sampleRate'], samplingrate: ['fs', 'sampleRate'] },
  ...{ samplerate: ['fs'], fs: ['sampleRate'], spacing: ['d'], dt: ['d'] },
  ...{ winlength: ['nperseg', 'size'], framelength: ['nperseg', 'size'], windowlength: ['nperseg', 'size'] },
  ...{ framesize: ['nperseg', 'size'], windowsize: ['nperseg', 'size'], nperseg: ['size'], win: ['window'] },
  ...{
    hop: ['hopLength', 'noverlap'],
    hoplength: ['noverlap'],
    hopsize: ['hopLength', 'noverlap'],
    nhop: ['hopLength'],
  },
  ...{ overlap: ['noverlap', 'hopLength'], overlaplength: ['noverlap', 'hopLength'] },
  ...{ beta: ['windowOptions'], std: ['windowOptions'], alpha: ['windowOptions'], sym: ['windowOptions'] },
  ...{ onesided: ['returnOnesided', 'inputOnesided'], freqrange: ['returnOnesided', 'inputOnesided'] },
  ...{ center: ['boundary'], centered: ['boundary'], padmode: ['boundary'], pad: ['padded'] },
  ...{ mels: ['nMels'], nfilters: ['nMels'], scale: ['melScale'], zphase: ['detrend'] },
};

/** Words that options take in other libraries, with our words. */
const FOREIGN_WORDS: Readonly<Record<string, readonly unknown[]>> = {
  ...{ hanning: ['hann'], rect: ['boxcar'], ones: ['boxcar'], uniform: ['boxcar'], box: ['boxcar'] },
  ...{ triangular: ['triang'], triangle: ['triang'], bartletthann: ['barthann'], chebyshev: ['chebwin'] },
  ...{
    dolphchebyshev: ['chebwin'],
    cheb: ['chebwin'],
    gauss: ['gaussian'],
    sine: ['cosine'],
    poisson: ['exponential'],
  },
  ...{ reflect: ['even'], mirror: ['even'], symmetric: ['even', true], symm: ['even'], antisymmetric: ['odd'] },
  ...{ edge: ['constant'], nearest: ['constant'], replicate: ['constant'], pad: ['zeros'] },
  ...{
    unitary: ['ortho'],
    none: [null, false, 'none', 'backward'],
    false: [null, 'none'],
    true: ['zeros', 'constant'],
  },
  ...{ null: [false, 'none'], mean: ['constant', 'mean'], dc: ['constant'], const: ['constant'] },
  ...{ density: ['psd'], psd: ['density'], power: ['spectrum'], magnitude: ['spectrum'], amplitude: ['spectrum'] },
  ...{ float: ['single'], f32: ['single'], float32: ['single'], complex64: ['single'], fp32: ['single'] },
  ...{ f64: ['double'], float64: ['double'], complex128: ['double'], fp64: ['double'] },
  ...{ gpu: ['auto'], best: ['auto'], nvidia: ['cuda'], amd: ['hip'], rocm: ['hip'], cl: ['opencl'] },
  ...{ wasm: ['cpu'], webassembly: ['cpu'], metal: ['webgpu'], dawn: ['webgpu'], wgpu: ['webgpu'] },
};

/** A word without the decoration of other libraries: MATLAB's `hann`, `rectwin`, `gausswin` …, and names with `_`, `-` and capitals. */
function plainly(written: string): string {
  return written.slice(0, MOST_LETTERS).toLowerCase().replace(/[\W_]/g, '');
}

/** The known option that an unknown name most likely stands for. */
export function meantOption(written: string, known: readonly string[]): string | undefined {
  return foreign(FOREIGN_OPTIONS, written, known) ?? closest(written, known);
}

/** The accepted word that an unknown word most likely stands for. */
export function meantWord<T>(written: unknown, words: readonly T[]): T | undefined {
  if (typeof written !== 'string') {
    const said = written === null || typeof written === 'boolean' ? String(written) : '';
    return foreign(FOREIGN_WORDS, said, words);
  }
  const names = words.filter((word): word is T & string => typeof word === 'string');
  const whole = foreign(FOREIGN_WORDS, written, words);
  return whole ?? foreign(FOREIGN_WORDS, written.replace(/_?win(dow)?$/i, ''), words) ?? closest(written, names);
}

/** A suggestion for the end of a message; empty if there is none. */
export function didYouMean(written: unknown, words: readonly unknown[]): string {
  const word = meantWord(written, words);
  if (word === undefined) return '';
  return ` Did you mean ${typeof word === 'string' ? `'${word}'` : String(word)}?`;
}

function foreign<T>(table: Readonly<Record<string, readonly unknown[]>>, written: string, known: readonly T[]) {
  const plain = plainly(written);
  const same = known.find((word) => typeof word === 'string' && plainly(word) === plain);
  if (same !== undefined || !Object.hasOwn(table, plain)) return plain === '' ? undefined : same;
  const ours = table[plain]!.find((word) => known.includes(word as T));
  return ours as T | undefined;
}

const MOST_LETTERS = 40;

/** Edits (insert, delete, replace) between two words, upper and lower case taken as equal. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = row[j - 1]! + (a[i - 1]!.toLowerCase() === b[j - 1]!.toLowerCase() ? 0 : 1);
      next.push(Math.min(replace, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/**
 * The known word nearest to what was written, if it is near: at most a third of the letters may be wrong.
 * @param known words, or paths whose last parts are meant
 */
export function closest<T extends string>(written: string, known: readonly T[]): T | undefined {
  const word = written.slice(0, MOST_LETTERS);
  const near = known.map((path) => {
    const name = path.slice(path.lastIndexOf('.') + 1);
    return { path, share: editDistance(word, name) / Math.max(word.length, name.length) };
  });
  near.sort((one, other) => one.share - other.share);
  return near[0] !== undefined && near[0].share <= 1 / 3 ? near[0].path : undefined;
}
