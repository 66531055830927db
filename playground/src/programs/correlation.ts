import { complex, conj, fft, ifft, map, mul, norm2, program, zip } from 'omnifft/lift';

// Where does the echo come from? The power of the correlation of two signals is largest at their delay.
export const correlation = program({ heard: complex(1024), sent: complex(1024) }, ({ heard, sent }) =>
  map(norm2, ifft(map((a, b) => mul(a, conj(b)), zip(fft(heard), fft(sent))))),
);
