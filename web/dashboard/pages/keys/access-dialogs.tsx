import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccessView } from '../../../../src/http/dashboard/contract/keys.ts';
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

/** Takes over what was saved; after a refusal the list is read again, as somebody else may have changed it. */
function useSaved(onClose: () => void) {
  const { t } = useLocale('keys');
  const { api, queries, toast } = useDashboard();
  const { queryKey } = accessQuery(api, useScope());
  return {
    saved: (access: AccessView): void => {
      queries.setQueryData(queryKey, access);
      toast(t('access_saved'));
      onClose();
    },
    refused: (): void => void queries.invalidateQueries({ queryKey }),
  };
}

/** The addresses that may use secret keys. Those that used them and would be refused are asked about first. */
export function AddressesDialog({ access, onClose }: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { api } = useDashboard();
  const { project } = useScope();
  const { saved, refused } = useSaved(onClose);
  // The edit began from this list, whatever comes meanwhile.
  const [from] = useState(access);
  const before = from.allow_ips.join('\n');
  const [text, setText] = useState(before);
  const save = useMutation({
    mutationFn: (anyway: boolean) =>
      api('POST /dashboard/api/projects/:project/access/ips', {
        params: { project },
        body: { values: linesOf(text), before: from.allow_ips, anyway },
      }),
    onSuccess: (answer) => (answer.saved ? saved(answer.access) : undefined),
    onError: refused,
  });
  if (save.data?.saved === false || (save.variables === true && save.isPending)) {
    return (
      <ConfirmDialog
        name={t('access_anyway')}
        text={t('access_locked_out')}
        isDangerous
        action={{ ...save, mutate: () => save.mutate(true) }}
        onClose={() => save.reset()}
      >
        <Addresses addresses={save.data?.refused ?? []} areRefused={false} />
        <p>{t('access_locked_out_text')}</p>
      </ConfirmDialog>
    );
  }
  const lines = linesOf(text);
  const own = from.your_address;
  return (
    <FormDialog
      name={t('edit_addresses')}
      text={t('access_your_address', { address: own })}
      isDirty={text !== before}
      action={{ ...save, mutate: () => save.mutate(false) }}
      fields={['values']}
      onClose={onClose}
    >
      <TextArea
        label={t('access_field_addresses')}
        hint={t('access_field_addresses_hint')}
        rows={6}
        spellCheck={false}
        value={text}
        problem={problemOf(save.error, 'values')}
        onValue={setText}
      />
      <div className={rows.buttons}>
        {[own, ...from.addresses.map(({ address }) => address)]
          .filter((one, index, all) => all.indexOf(one) === index && !lines.includes(one))
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
export function OriginsDialog({ access, onClose }: AccessDialogProps) {
  const { t } = useLocale('keys');
  const { api } = useDashboard();
  const { project } = useScope();
  const { saved, refused } = useSaved(onClose);
  const [from] = useState(access);
  const before = from.allow_origins.join('\n');
  const [text, setText] = useState(before);
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/access/origins', {
        params: { project },
        body: { values: linesOf(text), before: from.allow_origins },
      }),
    onSuccess: (answer) => saved(answer.access),
    onError: refused,
  });
  return (
    <FormDialog
      name={t('edit_origins')}
      text={t('access_text')}
      isDirty={text !== before}
      action={save}
      fields={['values']}
      onClose={onClose}
    >
      <TextArea
        label={t('access_field_origins')}
        hint={t('access_field_origins_hint')}
        rows={4}
        spellCheck={false}
        value={text}
        problem={problemOf(save.error, 'values')}
        onValue={setText}
      />
    </FormDialog>
  );
}
