import { useState } from 'react';
import { useLocale } from '../locale.tsx';
import { chooseTheme, chosenTheme, THEMES } from '../theme.ts';
import css from './theme-choice.module.css';

/** Light, dark, or as the system is; shown at once. */
export function ThemeChoice() {
  const { t } = useLocale();
  const [chosen, set] = useState(chosenTheme);
  return (
    <fieldset className={css.choice}>
      <legend>{t('theme')}</legend>
      <div className={css.options}>
        {THEMES.map((theme) => (
          <label key={theme} className={css.option}>
            <input
              type="radio"
              name="theme"
              checked={theme === chosen}
              onChange={() => {
                set(theme);
                chooseTheme(theme);
              }}
            />
            <span>{t(`theme_${theme}`)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
