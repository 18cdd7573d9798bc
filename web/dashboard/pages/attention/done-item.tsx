import { useEffect, useRef } from 'react';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/notice.tsx';
import css from './attention-page.module.css';
import { useMark } from './mark.ts';
import { describe } from './sentence.ts';

/** The line in the place of an item that was marked as done, which can be taken back. */
export function DoneItem({ item }: { readonly item: AttentionView }) {
  const locale = useLocale('attention');
  const { t } = locale;
  const undo = useMark();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The focus was on the button of the item, which is gone.
    if (document.activeElement === document.body) button.current?.focus();
  }, []);
  return (
    <li className={css.done}>
      <span role="status">
        {t('attention_done')} <span>{describe(item, locale).title}</span>
      </span>
      <Button
        ref={button}
        small
        kind="quiet"
        busy={undo.isPending}
        onClick={() => undo.mutate({ item: { ...item, version: item.version + 1 }, change: { done: false } })}
      >
        {t('undo')}
      </Button>
      <Problem error={undo.error} />
    </li>
  );
}
