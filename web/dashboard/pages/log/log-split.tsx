import { useEffect, useRef, type ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { IconButton } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { isPlainKey } from '../../ui/plain-key.ts';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import css from './log.module.css';

interface LogSplitProps {
  /** Beside the list; where there is no room, in its place. */
  readonly panel: ReactNode | null;
  readonly children: ReactNode;
}

/** A list and the panel of its chosen row. */
export function LogSplit({ panel, children }: LogSplitProps) {
  return (
    <div className={classNames(css.split, panel !== null && css.withPanel)}>
      <div>{children}</div>
      {panel}
    </div>
  );
}

interface LogPanelProps<Record> {
  readonly title: string;
  readonly found: { readonly data: Record | undefined; readonly error: unknown };
  readonly onClose: () => void;
  readonly children: (record: Record) => ReactNode;
}

/** The panel of a record that is loaded. Escape closes it. */
export function LogPanel<Record>({ title, found, onClose, children }: LogPanelProps<Record>) {
  const { t } = useLocale();
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where it stands in the place of the list, it may begin below what is seen.
    if (!matchMedia('(width >= 64rem)').matches) frame.current?.scrollIntoView({ block: 'start' });
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && isPlainKey(event) && document.querySelector('[role=dialog]') === null) onClose();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [onClose]);
  return (
    <aside ref={frame} className={css.panel} aria-label={title}>
      <div className={css.head}>
        <h2>{title}</h2>
        <IconButton icon="close" small label={t('close')} onClick={onClose} />
      </div>
      {found.data !== undefined ? (
        <div className={css.body}>{children(found.data)}</div>
      ) : found.error === null ? (
        <SkeletonRows count={6} />
      ) : (
        <Empty icon="warning" title={t('fault_title')} text={problemText(found.error, t)} />
      )}
    </aside>
  );
}
