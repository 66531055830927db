export declare function buildDigest(root: string): string;
