import { useEffect, useRef } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { Button } from '../../ui/button.tsx';
import css from '../payments/payments-page.module.css';

/** New rows that arrive so soon after a change of this person's are taken for its outcome. */
const OWN_MS = 5_000;

/** A busy shop's lists read themselves again at most so often. */
const REST_MS = 10_000;

interface ArrivedProps {
  readonly count: number;
  readonly text: string;
  /** Whether the list may have other rows than those that arrived. */
  readonly isNarrowed?: boolean;
  readonly onShow: () => void;
}

/**
 * The button over a list that shows its new rows. After the person's own change they appear at once, and also in a
 * whole list at its top where nothing moves under the pointer or a focused row.
 */
export function Arrived({ count, text, isNarrowed = false, onShow }: ArrivedProps) {
  const { changedAt } = useDashboard();
  const shownAt = useRef(-Infinity);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (count === 0) return;
    const show = (): void => {
      shownAt.current = performance.now();
      onShow();
    };
    const showIfStill = (): void => {
      const list = frame.current?.parentElement;
      const isBusy =
        list === null || list === undefined || list.matches(':hover') || list.contains(document.activeElement);
      if (scrollY === 0 && !isBusy && !isNarrowed && !document.hidden) show();
    };
    const now = performance.now();
    if (now - changedAt.get() < OWN_MS) return show();
    const timer = setTimeout(showIfStill, Math.max(0, shownAt.current + REST_MS - now));
    return () => clearTimeout(timer);
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
