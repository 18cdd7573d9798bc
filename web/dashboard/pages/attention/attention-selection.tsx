import { useState } from 'react';
import { personText } from '../../ui/value.tsx';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { useBatches } from '../selection/batches.ts';
import { BatchProgress } from '../selection/batch-progress.tsx';
import bar from '../selection/selection-bar.module.css';
import type { Selection } from '../selection/use-selection.ts';
import { saveItems } from './save-items.ts';
import { markOf, useMarkMany, type MarkFailure } from './mark.ts';
import { describe } from './sentence.ts';

interface AttentionSelectionProps {
  /** The shown items. */
  readonly items: readonly AttentionView[];
  readonly people: readonly { readonly id: string; readonly email: string; readonly name: string | null }[];
  readonly selection: Selection;
}

/** A change of one item; `undo` is the change back. */
interface ItemChange {
  readonly item: AttentionView;
  readonly change: Parameters<typeof markOf>[1];
  readonly undo: Parameters<typeof markOf>[1];
}

/** The list has no more, and one request changes all of them. */
const ALL = 100;

/** The actions on the chosen items, and their result. */
export function AttentionSelection({ items, people, selection }: AttentionSelectionProps) {
  const locale = useLocale('attention', 'bulk');
  const { t } = locale;
  const markMany = useMarkMany();
  const batches = useBatches<ItemChange, MarkFailure>(ALL);
  const [what, setWhat] = useState<'done' | 'assign' | 'undo'>('done');
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const chosen = items.filter(({ identity }) => selection.chosen.has(identity));
  const start = (changes: readonly ItemChange[], kind: typeof what): void => {
    setWhat(kind);
    setTitles(new Map(changes.map(({ item }) => [item.identity, describe(item, locale).title])));
    batches.start(changes, async (batch) => {
      const failed = await markMany(batch.map(({ item, change }) => markOf(item, change)));
      const kept = new Set(failed.map(({ identity }) => identity));
      return { changed: batch.filter(({ item }) => !kept.has(item.identity)), failed };
    });
  };
  const mark = (change: ItemChange['change']): void => {
    const isDone = change.done === true;
    start(
      chosen.map((item) => ({
        item,
        change,
        undo: isDone ? { done: false } : { assigned_to: item.assigned_to?.id ?? null },
      })),
      isDone ? 'done' : 'assign',
    );
    if (isDone) selection.clear();
  };
  const takeBack = (changes: readonly ItemChange[]): void => {
    const back = changes.map(({ item, change, undo }) => ({
      item: { ...item, version: item.version + 1 },
      change: undo,
      undo: change,
    }));
    start(back, 'undo');
  };
  const { run } = batches;
  return (
    <>
      {chosen.length === 0 ? null : (
        <Bar {...{ items, chosen, people, selection }} isBusy={run?.isRunning === true} onMark={mark} />
      )}
      {run === null ? null : (
        <BatchProgress
          texts={{ running: t('bulk_marking'), ended: t(`bulk_items_${what}`, { count: run.changed.length }) }}
          run={run}
          onStop={batches.stop}
          onGoOn={batches.goOn}
          onClose={batches.clear}
          onUndo={what === 'undo' ? undefined : () => takeBack(run.changed)}
          failure={({ identity, reason }) => ({
            key: identity,
            content: `${titles.get(identity) ?? identity}: ${t(`bulk_reason_${reason}`)}`,
          })}
        />
      )}
    </>
  );
}

interface BarProps extends AttentionSelectionProps {
  readonly chosen: readonly AttentionView[];
  readonly isBusy: boolean;
  readonly onMark: (change: ItemChange['change']) => void;
}

function Bar({ items, chosen, people, selection, isBusy, onMark }: BarProps) {
  const locale = useLocale('attention', 'bulk', 'list');
  const { t, number } = locale;
  const mayMark = useActions().includes('write_notes');
  return (
    <div className={bar.bar} role="group" aria-label={t('bulk_selection')}>
      <b>{t('bulk_selected', { number: number(chosen.length) })}</b>
      {mayMark ? (
        <>
          <Button small icon="check" disabled={isBusy} onClick={() => onMark({ done: true })}>
            {t('bulk_done')}
          </Button>
          <Select
            disabled={isBusy}
            label={t('bulk_assign')}
            value=""
            options={[
              ['', t('bulk_assign')],
              ['nobody', t('assigned_nobody')],
              ...people.map((one) => [one.id, personText(one)] as const),
            ]}
            onValue={(id) => (id === '' ? undefined : onMark({ assigned_to: id === 'nobody' ? null : id }))}
          />
        </>
      ) : null}
      <Button small onClick={() => saveItems(chosen, locale)}>
        {t('export')}
      </Button>
      {chosen.length === items.length ? null : (
        <Button small kind="quiet" onClick={() => selection.replace(items.map(({ identity }) => identity))}>
          {t('bulk_all_count', { number: number(items.length) })}
        </Button>
      )}
      <LinkButton className={bar.end} onClick={selection.clear}>
        {t('bulk_select_none')}
      </LinkButton>
    </div>
  );
}
