import { useLocale } from '../locale.tsx';
import type { TextKey } from '../texts/parts.ts';
import { Dialog } from '../ui/dialog.tsx';
import css from './help-dialog.module.css';

const KEYS = [
  [['/'], 'key_search'],
  [['Ctrl', 'K'], 'key_palette'],
  [['g', 'h'], 'key_home'],
  [['g', 'a'], 'key_attention'],
  [['g', 'p'], 'key_payments'],
  [['g', 'f'], 'key_refunds'],
  [['g', 't'], 'key_reports'],
  [['g', 'c'], 'key_wallets'],
  [['g', 's'], 'key_sweeps'],
  [['g', 'k'], 'key_keys'],
  [['g', 'w'], 'key_webhooks'],
  [['g', 'e'], 'key_events'],
  [['g', 'r'], 'key_requests'],
  [['g', 'o'], 'key_settings'],
  [['g', 'u'], 'key_people'],
  [['g', 'l'], 'key_audit'],
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
