/** Light, dark, or the system's theme. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const CHOICE = 'cointill.theme';

/** The theme chosen on this device. */
export function chosenTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(CHOICE)) ?? 'system';
  } catch {
    return 'system';
  }
}

/** Stores the choice on this device and shows it at once; other open tabs follow. */
export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(CHOICE, theme);
  } catch {
    // A browser without storage shows it until the page is reloaded.
  }
  showTheme(theme);
}

/** Shows the choice now, and whenever another tab changes it. */
export function followTheme(): void {
  showTheme(chosenTheme());
  addEventListener('storage', ({ key }) => {
    if (key === CHOICE || key === null) showTheme(chosenTheme());
  });
}

/** Sets the attribute that the style sheet uses. */
function showTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}
