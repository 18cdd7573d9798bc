import { Fragment, useEffect, useState, type ReactNode } from 'react';
import { useLocale } from '../locale.tsx';
import { copyText } from '../../clipboard.ts';
import { useDashboard } from '../dashboard.ts';
import { Button } from './button.tsx';
import css from './value.module.css';
import { Icon } from './icons.tsx';
import { groupOf } from '../status-groups.ts';
import type { Exception } from '../../../src/domain/payment.ts';
import type { PaymentStatus } from '../../../src/domain/status.ts';
import { classNames } from './class-names.ts';

const MINUTE_MS = 60_000;

/** A relative time that keeps itself current, with the absolute one as its tooltip. */
export function Ago({ iso }: { readonly iso: string }) {
  const { relative, exactTime, t } = useLocale();
  const now = useNow(MINUTE_MS / 4);
  const isFresh = Math.abs(now - Date.parse(iso)) < MINUTE_MS;
  return (
    <time dateTime={iso} title={exactTime(iso)}>
      {isFresh ? t('just_now') : relative(iso, now)}
    </time>
  );
}

/** A time in the person's time zone. */
export function Moment({ iso }: { readonly iso: string }) {
  const { exactTime } = useLocale();
  return <time dateTime={iso}>{exactTime(iso)}</time>;
}

function useNow(everyMs: number): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** An e-mail address. Where it has no room in a line, the next one begins with a part of it, not within a word. */
export function EmailAddress({ address }: { readonly address: string }) {
  return (
    <bdi>
      {address.split(/(?=[@.])/).map((part, place) => (
        <Fragment key={place}>
          {place === 0 ? null : <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  );
}

/** A person in a list to choose from. */
export function personText({ email, name }: { readonly email: string; readonly name: string | null }): string {
  return name === null ? email : `${name} (${email})`;
}

/** Copies a text and reports success or failure. */
function useCopy(): (text: string, button: HTMLElement) => void {
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

interface CopyButtonProps {
  readonly text: string;
  readonly kind?: 'plain' | 'primary';
  readonly children: string;
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

export function CopyButton({ text, kind = 'plain', children }: CopyButtonProps) {
  const copy = useCopy();
  return (
    <Button small kind={kind} icon="copy" onClick={(event) => copy(text, event.currentTarget)}>
      {children}
    </Button>
  );
}

const MAX_WHOLE = 20;
const END = 6;

function shortened(text: string): string {
  return text.length <= MAX_WHOLE ? text : `${text.slice(0, END + 4)}…${text.slice(-END)}`;
}

interface BadgeProps {
  readonly tone: 'open' | 'waiting' | 'warning' | 'good' | 'bad' | 'over';
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A state as text, supported by a colour. */
export function Badge({ tone, className, children }: BadgeProps) {
  return <span className={classNames(css.status, css[tone], className)}>{children}</span>;
}

/** An amount of a coin; the whole figure shows where it was cut. */
export function Coin({ amount, asset }: { readonly amount: string; readonly asset: string }) {
  const text = useLocale().coin(amount, asset);
  return text.includes('…') ? <span title={`${amount} ${asset}`}>{text}</span> : text;
}

const TONES = {
  created: 'open',
  prepared: 'open',
  pending: 'open',
  processing: 'waiting',
  confirming: 'waiting',
  completed: 'good',
  failed: 'bad',
  expired: 'over',
  cancelled: 'over',
} as const satisfies Readonly<Record<PaymentStatus, string>>;

interface StatusProps {
  readonly status: PaymentStatus;
  readonly exception: Exception;
}

/** A payment's status and exception. */
export function Status({ status, exception }: StatusProps) {
  const { t } = useLocale();
  return (
    <span className={css.group}>
      <Badge tone={TONES[status]}>{t(`group_${groupOf(status)}`)}</Badge>
      {exception === 'none' ? null : <span className={css.unusual}>{t(`exception_${exception}`)}</span>}
    </span>
  );
}

interface FactsProps {
  readonly className?: string | undefined;
  /** Whether an element is around each, for a grid of them. */
  readonly areApart?: boolean;
  /** Facts; those without a value are left out. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** Facts about one thing by their names. */
export function Facts({ className = css.facts, areApart = false, facts }: FactsProps) {
  const Around = areApart ? 'div' : Fragment;
  return (
    <dl className={className}>
      {facts.map(([name, value]) =>
        value === null ? null : (
          <Around key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Around>
        ),
      )}
    </dl>
  );
}

interface OnceProps {
  readonly text: string;
  /** The name of the button that copies it. */
  readonly copy: string;
  readonly title?: string;
}

/** A text that is shown only once, with a button that copies it. */
export function Once({ text, copy, title }: OnceProps) {
  return (
    <div className={css.once}>
      {title === undefined ? null : <b>{title}</b>}
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton text={text}>{copy}</CopyButton>
    </div>
  );
}
