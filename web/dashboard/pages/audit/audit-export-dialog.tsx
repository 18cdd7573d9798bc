import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { AuditExportRequest } from '../../../../src/http/dashboard/contract/audit.ts';
import { faultOf, urlOf } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';
import { saveFile } from '../payments/export-file.ts';
import { filtersOf, type AuditSearch } from './search.ts';

type Format = 'csv' | 'semicolon' | 'jsonl';

/** Downloads all entries that the filters mean. Leaving the dialog stops it. */
export function AuditExportDialog({ search, onClose }: { readonly search: AuditSearch; readonly onClose: () => void }) {
  const { t } = useLocale('audit');
  const { isSignedOut } = useDashboard();
  const { project } = useScope();
  const [format, setFormat] = useState<Format>('csv');
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const download = useMutation({
    mutationFn: async () => {
      const stop = new AbortController();
      running.current = stop;
      const path =
        search.of === 'all' ? '/dashboard/api/audit/export' : '/dashboard/api/projects/:project/audit/export';
      const body: AuditExportRequest = {
        ...filtersOf(search),
        format: format === 'jsonl' ? 'jsonl' : 'csv',
        ...(format === 'semicolon' && { separator: 'semicolon' }),
      };
      const answer = await fetch(urlOf(path, { params: { project } }), {
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: stop.signal,
      });
      if (answer.status === 401) isSignedOut.set(true);
      if (!answer.ok) throw faultOf(answer.status, await answer.json().catch(() => null));
      const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'audit';
      saveFile({ name, content: await answer.blob() });
    },
    onSuccess: onClose,
  });
  const formats: readonly { readonly value: Format; readonly text: string }[] = [
    { value: 'csv', text: t('audit_export_csv') },
    { value: 'semicolon', text: t('audit_export_semicolon') },
    { value: 'jsonl', text: t('audit_export_jsonl') },
  ];
  const dialog = { name: t('export_audit'), text: t('audit_export_text'), onClose };
  return (
    <FormDialog {...dialog} isDirty={false} action={download} fields={[]}>
      <Choices label={t('audit_format')} value={format} options={formats} onValue={setFormat} />
    </FormDialog>
  );
}
