import type { Metafile } from 'esbuild';

export declare const root: string;
export declare const libraryEntries: Readonly<Record<string, string>>;
export declare function bundleBrowser(options?: {
  readonly entries?: Readonly<Record<string, string>>;
  readonly minify?: boolean;
  readonly define?: Record<string, string>;
}): Promise<{ readonly files: ReadonlyMap<string, Uint8Array>; readonly metafile: Metafile }>;
