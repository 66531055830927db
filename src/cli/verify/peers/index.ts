/** The other libraries that errors are compared with, if they are installed. */
import { type Device, FftError } from '../../../index.ts';
import type { SuitePrecision } from '../suite.ts';
import { openFftw, openWideFftw } from './fftw.ts';
import type { Peer, WidePeer } from './peer.ts';
import { openScipy } from './scipy.ts';
import { openVendorPeer } from './vendor.ts';

export interface Peers {
  /** Libraries that compute in singles and in doubles. */
  readonly single: readonly Peer[];
  readonly double: readonly Peer[];
  /** Libraries whose formats are wide enough to compare double-doubles with. */
  readonly wide: readonly WidePeer[];
  /** The libraries that are missing, with reasons. */
  readonly missing: readonly string[];
  close(): void;
}

/** Opens the libraries. @param precisions the precisions to be tried; a library that has none of them is not opened. */
export async function openPeers(device: Device, precisions: readonly SuitePrecision[]): Promise<Peers> {
  const missing: string[] = [];
  const narrow = (['single', 'double'] as const).filter((precision) => precisions.includes(precision));
  const tried = async <T>(name: string, open: () => Promise<T>): Promise<T[]> => {
    try {
      return [await open()];
    } catch (error) {
      if (!(error instanceof FftError)) throw error;
      missing.push(`without ${name}: ${error.message}`);
      return [];
    }
  };
  const fftw = { single: [] as Peer[], double: [] as Peer[] };
  for (const precision of narrow) fftw[precision] = await tried(`FFTW, ${precision}`, () => openFftw(precision));
  const scipy = narrow.length > 0 ? await tried('SciPy', openScipy) : [];
  const vendor = narrow.length > 0 ? await tried('cuFFT and rocFFT', () => openVendorPeer(device)) : [];
  const wide: WidePeer[] = [];
  if (precisions.includes('double-double')) {
    for (const build of ['long double', 'quad'] as const) {
      wide.push(...(await tried(`FFTW, ${build}`, () => openWideFftw(build))));
    }
  }
  const [single, double] = [fftw.single, fftw.double].map((own) => [...own, ...scipy, ...vendor]) as [Peer[], Peer[]];
  return {
    ...{ single, double, wide, missing },
    close() {
      for (const peer of new Set([...single, ...double, ...wide])) peer.close();
    },
  };
}
