import type { ReactNode } from 'react';
import type { Batches } from './batches.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import css from './batch-progress.module.css';

interface BatchProgressProps<Failure> {
  /** The change while it runs, and its result. */
  readonly texts: { readonly running: string; readonly ended: string };
  readonly run: Batches<unknown, Failure>;
  readonly onStop: () => void;
  readonly onGoOn: () => void;
  readonly onClose: () => void;
  /** Absent if it cannot be undone. */
  readonly onUndo?: (() => void) | undefined;
  /** One that could not be changed, with the reason. */
  readonly failure: (failure: Failure) => { readonly key: string; readonly content: ReactNode };
}

/** More would fill the page; the number says how many there are. */
const MAX_NAMED = 20;

/** How far a change of many things is; then its result, what could not be changed and why, and the way back. */
export function BatchProgress<Failure>(props: BatchProgressProps<Failure>) {
  const { texts, run, onStop, onGoOn, onClose, onUndo, failure } = props;
  const { t, number } = useLocale('bulk');
  const { total, done, failed, isRunning, error } = run;
  const isPart = !isRunning && done < total;
  const soFar = t('bulk_so_far', { done: number(done), total: number(total) });
  return (
    <div className={css.progress} role="status">
      <div className={css.line}>
        <span>{isRunning || isPart ? `${texts.running} ${soFar}` : texts.ended}</span>
        {isRunning ? (
          <Button small onClick={onStop}>
            {t('bulk_stop')}
          </Button>
        ) : (
          <span className={css.buttons}>
            {isPart ? (
              <Button small onClick={onGoOn}>
                {t('bulk_go_on')}
              </Button>
            ) : null}
            {onUndo === undefined || run.changed.length === 0 ? null : (
              <Button small onClick={onUndo}>
                {t('bulk_undo')}
              </Button>
            )}
            <IconButton icon="close" small label={t('close')} onClick={onClose} />
          </span>
        )}
      </div>
      {isRunning ? <progress aria-label={texts.running} max={total} value={done} /> : null}
      {error === null ? null : <p className={css.problem}>{problemText(error, t)}</p>}
      {isRunning || failed.length === 0 ? null : (
        <div className={css.failed}>
          <b>{t('bulk_failed', { count: failed.length })}</b>
          <ul>
            {failed.slice(0, MAX_NAMED).map((one) => {
              const { key, content } = failure(one);
              return <li key={key}>{content}</li>;
            })}
          </ul>
          {failed.length > MAX_NAMED ? <p>{t('bulk_failed_more', { count: failed.length - MAX_NAMED })}</p> : null}
        </div>
      )}
    </div>
  );
}
