// Fresh process: a first transform through NumPy's names, of the library's file that is named by its argument.
const { rfft } = await import(process.argv[2]);
await rfft(new Float64Array(1024));
