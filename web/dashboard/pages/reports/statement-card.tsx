import { useState } from 'react';
import type { StatementRecord } from '../../../../src/http/dashboard/reports/contract.ts';
import { urlOf } from '../../api.ts';
import { brokenOff, useStream } from '../../download.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import css from './reports.module.css';
import { Statement } from './statement.tsx';
import { askedDays, type Days } from './parts.tsx';
import { useScope } from '../../scope.ts';

const STEPS = ['transfers', 'payments', 'refunds', 'deposits'] as const;
type Step = (typeof STEPS)[number];
type Line = { readonly step: Step } | { readonly statement: StatementRecord } | { readonly busy: true };

/** Makes the statement of the period, shows whether it balances, and prints it. */
export function StatementCard({ days }: { readonly days: Days }) {
  const { t } = useLocale('reports');
  const [statement, show] = useState<StatementRecord | null>(null);
  const [isBusy, setBusy] = useState(false);
  const making = useStream<Step>({
    url: urlOf('/dashboard/api/projects/:project/:mode/reports/statement', { params: { ...useScope() } }),
    first: STEPS[0],
    take: async (answer, onStep) => {
      let isOver = false;
      for await (const line of linesOf(answer)) {
        isOver = !('step' in line);
        if ('step' in line) onStep(line.step);
        else if ('statement' in line) show(line.statement);
        else setBusy(true);
      }
      if (!isOver) brokenOff();
    },
  });
  const asked = askedDays(days);
  const start = (): void => {
    if (asked === null) return;
    setBusy(false);
    show(null);
    making.start(asked);
  };
  const { progress: step, fault } = making;
  return (
    <>
      <Card title={t('statement_make')} className={css.setup}>
        <p className={css.note}>{t('statement_text')}</p>
        {isBusy ? <Notice kind="warning">{t('statement_busy')}</Notice> : null}
        <Problem error={fault} />
        <div className={css.buttons}>
          <Button kind="primary" busy={step !== null} aria-disabled={asked === null} onClick={start}>
            {t('statement_start')}
          </Button>
          {step === null ? null : (
            <>
              <progress aria-label={t('statement_make')} max={STEPS.length} value={STEPS.indexOf(step)} />
              <span role="status">{t(`statement_step_${step}`)}</span>
              <Button onClick={making.stop}>{t('report_stop')}</Button>
            </>
          )}
          {statement === null ? null : <Button onClick={() => print()}>{t('statement_print')}</Button>}
        </div>
      </Card>
      {statement === null ? null : <Statement statement={statement} />}
    </>
  );
}

/** The lines of an answer as they come. */
async function* linesOf(answer: Response): AsyncGenerator<Line> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done = true, value = '' } = (await reader?.read().catch(brokenOff)) ?? {};
    const lines = (text + value).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Line;
    if (done) return;
  }
}
