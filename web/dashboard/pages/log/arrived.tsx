import { useEffect, useRef } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { Button } from '../../ui/button.tsx';
import css from '../payments/payments-page.module.css';

/** New rows that arrive so soon after a change of this person's are taken for its outcome. */
const OWN_MS = 5_000;

interface ArrivedProps {
  readonly count: number;
  readonly text: string;
  readonly onShow: () => void;
}

/**
 * The button over a list that shows its new rows. After the person's own change they appear at once, and also where
 * nothing moves under the pointer or a focused row, with the list at its top.
 */
export function Arrived({ count, text, onShow }: ArrivedProps) {
  const { changedAt } = useDashboard();
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const list = frame.current?.parentElement;
    const isBusy =
      list === null || list === undefined || list.matches(':hover') || list.contains(document.activeElement);
    const isOwn = performance.now() - changedAt.get() < OWN_MS;
    if (count > 0 && (isOwn || (scrollY === 0 && !isBusy))) onShow();
  }, [count]);
  return (
    <div ref={frame} role="status">
      {count === 0 ? null : (
        <div className={css.arrived}>
          <Button small icon="refresh" onClick={onShow}>
            {text}
          </Button>
        </div>
      )}
    </div>
  );
}
