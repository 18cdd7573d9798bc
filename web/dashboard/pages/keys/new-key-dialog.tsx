import { useQuery } from '@tanstack/react-query';
import type { KeyView } from '../../../../src/http/dashboard/contract/keys.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Once } from './once.tsx';
import { keysQuery } from './queries.ts';

interface NewKeyDialogProps {
  readonly made: { readonly key: KeyView; readonly text: string };
  /** The toast once it is closed. */
  readonly done: string;
  readonly onClose: () => void;
}

/** Shows a key. Only its button closes it, because the key is never shown again. */
export function NewKeyDialog({ made: { key, text }, done, onClose }: NewKeyDialogProps) {
  const { t } = useLocale('keys');
  const { api, toast } = useDashboard();
  const { data } = useQuery(keysQuery(api, useScope()));
  const command = data === undefined ? null : curlOf(data.api_url, text, key);
  return (
    <Dialog title={t('new_key')} description={key.name} wide>
      <Notice kind="warning">{t('key_once')}</Notice>
      <Once text={text} copy={t('key_copy')} />
      {command === null ? null : <Once title={t('curl_title')} text={command} copy={t('curl_copy')} />}
      <DialogActions
        confirm={t('key_kept')}
        onConfirm={() => {
          toast(done);
          onClose();
        }}
      />
    </Dialog>
  );
}

/** A request that the key may make; null: there is none to show. */
function curlOf(apiUrl: string, text: string, { permission, scopes }: KeyView): string | null {
  const key = `-H 'Authorization: Bearer ${text}'`;
  const mayCreate = scopes === null ? permission !== 'read' : scopes.includes('payments:create');
  if (!mayCreate && scopes?.includes('payments:read') === false) return null;
  if (!mayCreate) return `curl '${apiUrl}/v1/orders?limit=1' ${key}`;
  const body = `-H 'Content-Type: application/json' -d '{"amount": 25, "currency": "EUR", "crypto_currency": "BTC"}'`;
  return `curl '${apiUrl}/v1/orders' ${key} ${body}`;
}
