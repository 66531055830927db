/**
 * The language of the page's numbers. To be imported before uPlot, which asks for the browser's when it is loaded: browsers of
 * systems whose locale is C or POSIX have one that `Intl` refuses.
 */
export const language = understood();

function understood(): string {
  try {
    return new Intl.NumberFormat(navigator.language).resolvedOptions().locale;
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
    return 'en-US';
  }
}
