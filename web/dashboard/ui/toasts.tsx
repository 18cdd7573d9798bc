import { useEffect, useState } from 'react';
import { useDashboard, type Toast } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { useStore } from '../store.ts';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { Icon } from './icons.tsx';
import css from './toasts.module.css';

/** Long enough to read twice. Problems stay until they are closed. */
const SHOWN_MS = 6_000;

/** Short messages in a corner, about what was done or went wrong. */
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
      className={classNames(css.toast, toast.kind === 'problem' && css.problem)}
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
    >
      <Icon name={toast.kind === 'good' ? 'check-circle' : 'warning'} />
      <span>{toast.text}</span>
      <IconButton icon="close" small label={t('close')} onClick={onClose} />
    </div>
  );
}
