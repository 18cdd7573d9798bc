import { type ReactNode, useEffect, useState } from 'react';
import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icons.tsx';
import css from './notice.module.css';
import { problemOfForm } from '../problem.ts';
import { useDashboard, type Toast, useStore } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { IconButton } from './button.tsx';

const ICONS = { info: 'info', warning: 'warning', problem: 'warning', good: 'check-circle' } as const satisfies Record<
  string,
  IconName
>;

interface NoticeProps {
  readonly kind?: keyof typeof ICONS;
  readonly children: ReactNode;
}

/** A notice in a page. Problems are announced to screen readers at once. */
export function Notice({ kind = 'info', children }: NoticeProps) {
  return (
    <div
      className={classNames(css.notice, kind !== 'info' && css[kind])}
      role={kind === 'problem' ? 'alert' : undefined}
    >
      <Icon name={ICONS[kind]} />
      <div className={css.body}>{children}</div>
    </div>
  );
}

interface ProblemProps {
  /** The error of a request, if it had one. */
  readonly error: unknown;
  /** The server's names of the fields that show their own errors. */
  readonly fields?: readonly string[];
}

/** The error of a request as a notice; nothing if a field shows it, or there is none. */
export function Problem({ error, fields = [] }: ProblemProps) {
  const { t } = useLocale();
  const problem = problemOfForm(error, fields, t);
  return problem === null ? null : <Notice kind="problem">{problem}</Notice>;
}

/** Long enough to read twice. Problems stay until they are closed. */
const SHOWN_MS = 6_000;

/** Short messages in a corner, about successes and failures. */
export function Toasts() {
  const { toasts } = useDashboard();
  const shown = useStore(toasts);
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {shown.map((toast) => (
        <OneToast
          key={toast.id}
          toast={toast}
          onClose={() => toasts.set(toasts.get().filter((other) => other !== toast))}
        />
      ))}
    </div>
  );
}

function OneToast({ toast, onClose }: { readonly toast: Toast; readonly onClose: () => void }) {
  const { t } = useLocale();
  const [isHeld, hold] = useState(false);
  useEffect(() => {
    if (isHeld || toast.kind === 'problem') return undefined;
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => clearTimeout(timer);
    // `onClose` changes with each rendering, which must not restart the timer.
  }, [isHeld, toast]);
  return (
    <div
      className={classNames(css.toast, toast.kind === 'problem' && css.toastProblem)}
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
    >
      <Icon name={toast.kind === 'good' ? 'check-circle' : 'warning'} />
      <span>{toast.text}</span>
      <IconButton icon="close" small label={t('close')} onClick={onClose} />
    </div>
  );
}
