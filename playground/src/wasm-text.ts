/** A WebAssembly module as text (WAT). */

/** What makes text of it is loaded when the first kernel is shown. */
export async function wasmText(bytes: Uint8Array): Promise<string> {
  const { BinaryReader, WasmDisassembler } = await import('wasmparser');
  const reader = new BinaryReader();
  reader.setData(bytes.slice().buffer, 0, bytes.length);
  return new WasmDisassembler().disassemble(reader);
}
