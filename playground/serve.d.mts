export declare function serve(options?: {
  readonly port?: number;
  readonly entries?: Readonly<Record<string, string>>;
  readonly define?: Record<string, string>;
}): Promise<{ readonly url: string; close(): Promise<void> }>;
