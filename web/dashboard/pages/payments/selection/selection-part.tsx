import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { MAX_LABELLED } from '../../../../../src/domain/label-many.ts';
import type { AnswerOf } from '../../../../../src/http/dashboard/contract.ts';
import { useBatches, type Batches } from '../../selection/batches.ts';
import { useDashboard } from '../../../dashboard.ts';
import { useLocale, type Translate } from '../../../locale.tsx';
import { problemText } from '../../../problem.ts';
import { useScope } from '../../../scope.ts';
import { useActions } from '../../../session.ts';
import { BatchProgress } from '../../selection/batch-progress.tsx';
import { Button, LinkButton } from '../../../ui/button.tsx';
import bar from '../../selection/selection-bar.module.css';
import { foundQuery } from '../list-queries.ts';
import { labelsQuery, projectKey } from '../queries.ts';
import { filtersOf, type PaymentsSearch } from '../search.ts';
import { LabelDialog, type LabelChange } from './label-dialog.tsx';
import type { Selection } from '../../selection/use-selection.ts';

const LABELS = 'POST /dashboard/api/projects/:project/:mode/labels';
type Failure = AnswerOf<typeof LABELS>['failed'][number];

interface SelectionPartProps {
  readonly selection: Selection;
  readonly search: PaymentsSearch;
  readonly onExport: () => void;
}

/** The actions on the chosen payments, and how far one is. */
export function SelectionPart({ selection, search, onExport }: SelectionPartProps) {
  const { t } = useLocale('bulk', 'list');
  const { api, queries } = useDashboard();
  const scope = useScope();
  const batches = useBatches<string, Failure>(MAX_LABELLED);
  const [change, setChange] = useState<(LabelChange & { readonly isUndo: boolean }) | null>(null);
  const start = (ids: readonly string[], { what, label }: LabelChange, isUndo = false): void => {
    setChange({ what, label, isUndo });
    batches.start(ids, async (payments) => {
      const answer = await api(LABELS, { params: { ...scope }, body: { what, label, payments: [...payments] } });
      void queries.invalidateQueries({ queryKey: labelsQuery(scope).queryKey });
      void queries.invalidateQueries({ queryKey: [...projectKey(scope), 'payment'] });
      return answer;
    });
  };
  const { run } = batches;
  return (
    <>
      {selection.chosen.size === 0 ? null : (
        <Bar
          selection={selection}
          search={search}
          isBusy={run?.isRunning === true}
          onLabel={(next) => start([...selection.chosen], next)}
          onExport={onExport}
        />
      )}
      {run === null || change === null ? null : (
        <BatchProgress
          texts={{
            running: t(change.what === 'add' ? 'bulk_adding' : 'bulk_removing', { label: change.label }),
            ended: endedText(t, change, run),
          }}
          run={run}
          onStop={batches.stop}
          onGoOn={batches.goOn}
          onClose={batches.clear}
          onUndo={
            change.isUndo
              ? undefined
              : () => start(run.changed, { ...change, what: change.what === 'add' ? 'remove' : 'add' }, true)
          }
          failure={({ id, name, reason }) => ({
            key: id,
            content: (
              <>
                <Link to="/projects/$project/$mode/payments/$payment" params={{ ...scope, payment: id }}>
                  {name ?? id}
                </Link>
                : {t(`bulk_reason_${reason}`)}
              </>
            ),
          })}
        />
      )}
    </>
  );
}

/** The result: how many changed, and how many were as wanted before. */
function endedText(
  t: Translate<'bulk'>,
  { what, label }: LabelChange,
  { changed, done, failed }: Batches<string, Failure>,
): string {
  const result = t(what === 'add' ? 'bulk_added' : 'bulk_removed', { label, count: changed.length });
  const same = done - changed.length - failed.length;
  return same === 0 ? result : `${result} ${t(what === 'add' ? 'bulk_had' : 'bulk_had_not', { count: same })}`;
}

interface BarProps extends SelectionPartProps {
  readonly isBusy: boolean;
  readonly onLabel: (change: LabelChange) => void;
}

function Bar({ selection, search, isBusy, onLabel, onExport }: BarProps) {
  const { t, number } = useLocale('bulk', 'list');
  const mayLabel = useActions().includes('write_notes');
  const [asked, ask] = useState<LabelChange['what'] | null>(null);
  const { chosen, clear } = selection;
  const labels = (['add', 'remove'] as const).map((what) => (
    <Button key={what} small disabled={isBusy} onClick={() => ask(what)}>
      {t(what === 'add' ? 'bulk_add_label' : 'bulk_remove_label')}
    </Button>
  ));
  return (
    <div className={bar.bar} role="group" aria-label={t('bulk_selection')}>
      <b>{t('bulk_selected', { number: number(chosen.size) })}</b>
      {mayLabel ? labels : null}
      <Button small onClick={onExport}>
        {t('export')}
      </Button>
      <All selection={selection} search={search} />
      <LinkButton className={bar.end} onClick={clear}>
        {t('bulk_select_none')}
      </LinkButton>
      {asked === null ? null : (
        <LabelDialog
          what={asked}
          count={chosen.size}
          onLabel={(label) => {
            ask(null);
            onLabel({ what: asked, label });
          }}
          onClose={() => ask(null)}
        />
      )}
    </div>
  );
}

/** Chooses all payments that match the filters, also those that the list has not loaded. */
function All({ selection, search }: Pick<SelectionPartProps, 'selection' | 'search'>) {
  const { t, number } = useLocale('bulk', 'list');
  const { api, toast } = useDashboard();
  const scope = useScope();
  const { data: found } = useQuery(foundQuery(api, scope, search));
  const read = useMutation({
    mutationFn: () =>
      api('GET /dashboard/api/projects/:project/:mode/payments/ids', { params: scope, query: filtersOf(search) }),
    onSuccess: ({ ids, is_more: isMore }) => {
      if (ids === null) return toast(t('bulk_all_too_long'), 'problem');
      selection.replace(ids);
      if (isMore) toast(t('bulk_all_newest', { number: number(ids.length) }));
    },
    onError: (error) => toast(problemText(error, t), 'problem'),
  });
  const count = found?.count ?? null;
  if (count !== null && count <= selection.chosen.size) return null;
  return (
    <Button small kind="quiet" busy={read.isPending} onClick={() => read.mutate()}>
      {count === null || found?.is_more === true ? t('bulk_all') : t('bulk_all_count', { number: number(count) })}
    </Button>
  );
}
