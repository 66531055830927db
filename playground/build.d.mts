export declare function buildPlayground(folder: string): Promise<void>;
export declare function writeBeside(folder: string, files: ReadonlyMap<string, Uint8Array>): void;
