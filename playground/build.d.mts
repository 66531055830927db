export declare function buildPlayground(folder: string, files?: ReadonlyMap<string, Uint8Array>): Promise<void>;
export declare function writeBeside(folder: string, files: ReadonlyMap<string, Uint8Array>): void;
