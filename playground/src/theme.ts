/** Light, dark, or as the system has it. */
import { byId } from './dom.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
const KEY = 'omnifft-theme';

export function startTheme(): void {
  const button = byId('theme');
  let theme = THEMES.find((name) => name === remembered()) ?? 'auto';
  const apply = () => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = theme === 'auto' ? 'Auto' : theme === 'light' ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Colours: ${theme === 'auto' ? 'as the system has them' : theme}`);
  };
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    apply();
  });
  apply();
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
