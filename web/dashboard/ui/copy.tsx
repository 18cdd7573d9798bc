import { copyText } from '../../clipboard.ts';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { Button } from './button.tsx';
import css from './copy.module.css';
import { Icon } from './icons.tsx';

/** Copies a text and reports success or failure. */
export function useCopy(): (text: string, button: HTMLElement) => void {
  const { t } = useLocale();
  const { toast } = useDashboard();
  return (text, button) => {
    void copyText(text, button).then((copied) => (copied ? toast(t('copied')) : toast(t('copy_failed'), 'problem')));
  };
}

interface ShortProps {
  /** An id, hash or address. */
  readonly text: string;
  /** Its kind, for the button's name, such as "Copy address". */
  readonly what: string;
  /** Its page in a block explorer. */
  readonly href?: string | null;
}

/** A long text, shortened in the middle because people compare both ends. Copies the whole text. */
export function Short({ text, what, href = null }: ShortProps) {
  const { t } = useLocale();
  const copy = useCopy();
  const label = t('copy_what', { what });
  return (
    <span className={css.copy}>
      <code title={text}>{shortened(text)}</code>
      <button type="button" aria-label={label} title={label} onClick={(event) => copy(text, event.currentTarget)}>
        <Icon name="copy" size={14} />
      </button>
      {href === null ? null : (
        <a href={href} target="_blank" rel="noreferrer" aria-label={t('explorer')} title={t('explorer')}>
          <Icon name="external" size={14} />
        </a>
      )}
    </span>
  );
}

export function CopyButton({ text, children }: { readonly text: string; readonly children: string }) {
  const copy = useCopy();
  return (
    <Button small icon="copy" onClick={(event) => copy(text, event.currentTarget)}>
      {children}
    </Button>
  );
}

const MAX_WHOLE = 20;
const END = 6;

function shortened(text: string): string {
  return text.length <= MAX_WHOLE ? text : `${text.slice(0, END + 4)}…${text.slice(-END)}`;
}
