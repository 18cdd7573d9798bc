import { useLocale } from '../locale.tsx';
import type { TextKey } from '../texts/parts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PAGES } from './pages.ts';
import css from './palette.module.css';

const KEYS = [
  [['/'], 'key_search'],
  [['Ctrl', 'K'], 'key_palette'],
  ...PAGES.map(({ key, text }) => [['g', key], `key_${text}`] as const),
  [['j'], 'key_next'],
  [['k'], 'key_previous'],
  [['Enter'], 'key_open'],
  [['e'], 'key_export'],
  [['Esc'], 'key_close'],
  [['?'], 'key_help'],
] as const satisfies readonly (readonly [readonly string[], TextKey])[];

/** A list of all keyboard shortcuts. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  return (
    <Dialog title={t('shortcuts')} onClose={onClose}>
      <dl className={css.keys}>
        {KEYS.map(([keys, text]) => (
          <div key={text}>
            <dt>{t(text)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
