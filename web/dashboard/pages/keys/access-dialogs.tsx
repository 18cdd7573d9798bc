import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccessView, AddressView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { ConfirmDialog, FormDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/text-area.tsx';
import rows from '../account/account.module.css';
import { Addresses } from './addresses.tsx';
import { accessQuery } from './queries.ts';

interface AccessDialogProps {
  readonly access: AccessView;
  readonly onClose: () => void;
}

const linesOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The edit of one list. It began from the list that was shown, whatever comes meanwhile. */
function useEdit(list: 'allow_ips' | 'allow_origins', { access, onClose }: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { api, queries, toast } = useDashboard();
  const scope = useScope();
  const { queryKey } = accessQuery(api, scope);
  const [from] = useState(access);
  const shown = from[list].join('\n');
  const [text, setText] = useState(shown);
  return {
    api,
    params: { project: scope.project },
    from,
    before: from[list],
    text,
    setText,
    isDirty: text !== shown,
    saved: (after: AccessView): void => {
      queries.setQueryData(queryKey, after);
      toast(t('access_saved'));
      onClose();
    },
    /** Somebody else may have changed the list. */
    onError: (): void => void queries.invalidateQueries({ queryKey }),
  };
}

/** The addresses that may use secret keys. Those that used them and would be refused are asked about first. */
export function AddressesDialog(props: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { api, params, from, before, text, setText, isDirty, saved, onError } = useEdit('allow_ips', props);
  const save = useMutation({
    mutationFn: (anyway: boolean) =>
      api('POST /dashboard/api/projects/:project/access/ips', {
        params,
        body: { values: linesOf(text), before, anyway },
      }),
    onSuccess: (answer) => (answer.saved ? saved(answer.access) : undefined),
    onError,
  });
  const own = from.your_address;
  const [asked, ask] = useState<readonly AddressView[]>([]);
  if (asked.length > 0) {
    return (
      <ConfirmDialog
        name={t('access_anyway')}
        text={t('access_locked_out')}
        isDangerous
        action={{ ...save, mutate: () => save.mutate(true) }}
        onClose={() => ask([])}
      >
        <Addresses addresses={asked} areRefused={false} />
        <p>{t('access_locked_out_text')}</p>
      </ConfirmDialog>
    );
  }
  const lines = linesOf(text);
  const known = new Set([own, ...from.addresses.map(({ address }) => address)]);
  return (
    <FormDialog
      name={t('edit_addresses')}
      text={t('access_your_address', { address: own })}
      isDirty={isDirty}
      action={{ ...save, mutate: () => save.mutate(false, { onSuccess: ({ refused }) => ask(refused) }) }}
      fields={['values']}
      onClose={props.onClose}
    >
      <LinesField kind="addresses" value={text} fault={save.error} onValue={setText} />
      <div className={rows.buttons}>
        {[...known]
          .filter((one) => !lines.includes(one))
          .map((address) => (
            <Button key={address} small icon="plus" onClick={() => setText([...lines, address].join('\n'))}>
              {t('add_address', { address })}
            </Button>
          ))}
      </div>
    </FormDialog>
  );
}

/** The pages that may use public keys. */
export function OriginsDialog(props: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { api, params, before, text, setText, isDirty, saved, onError } = useEdit('allow_origins', props);
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/access/origins', { params, body: { values: linesOf(text), before } }),
    onSuccess: ({ access }) => saved(access),
    onError,
  });
  const dialog = { name: t('edit_origins'), text: t('access_text'), isDirty, action: save, onClose: props.onClose };
  return (
    <FormDialog {...dialog} fields={['values']}>
      <LinesField kind="origins" value={text} fault={save.error} onValue={setText} />
    </FormDialog>
  );
}

interface LinesFieldProps {
  readonly kind: 'addresses' | 'origins';
  readonly value: string;
  /** The server's error of the last attempt. */
  readonly fault: unknown;
  readonly onValue: (text: string) => void;
}

function LinesField({ kind, fault, ...rest }: LinesFieldProps) {
  const { t } = useLocale('keys');
  const words = { label: t(`access_field_${kind}`), hint: t(`access_field_${kind}_hint`) };
  return <TextArea {...rest} {...words} rows={4} spellCheck={false} problem={problemOf(fault, 'values')} />;
}
