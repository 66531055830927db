/** What a spectrogram's picture says about itself. */

import type { Recording, Spectrogram } from '../../signal/index.ts';
import { digits } from '../format.ts';

export interface Caption {
  readonly title: string;
  readonly subtitle: string;
}

/** A title, and below it what was recorded and how it was transformed. */
export function captionOf(title: string, recording: Recording, { frames, size, hop, window }: Spectrogram): Caption {
  const { sampleRate, channels, format } = recording;
  const sound = `${format}, ${digits(sampleRate / 1000)} kHz${channels.length > 1 ? `, ${channels.length} channels` : ''}`;
  return {
    title,
    subtitle: `${sound} · ${window} window of ${size} sample${size === 1 ? '' : 's'}, hop ${hop} · ${frames} transform${frames === 1 ? '' : 's'}`,
  };
}
