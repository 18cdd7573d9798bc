import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { faultOf, urlOf } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';
import { saveFile } from '../payments/export-file.ts';

const FORMATS = ['csv', 'semicolon', 'jsonl'] as const;
type Format = (typeof FORMATS)[number];

interface FileDialogProps {
  readonly name: string;
  readonly text: string;
  readonly formatLabel: string;
  readonly formats: Readonly<Record<Format, string>>;
  /** The route, and its path's parameters. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** What narrows the file. */
  readonly filters: object;
  readonly onClose: () => void;
}

/** Downloads a file of all rows that the filters mean. Leaving the dialog stops it. */
export function FileDialog(props: FileDialogProps) {
  const { name, text, formatLabel, formats, path, params, filters, onClose } = props;
  const { isSignedOut } = useDashboard();
  const [format, setFormat] = useState<Format>('csv');
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const download = useMutation({
    mutationFn: async () => {
      const stop = new AbortController();
      running.current = stop;
      const separator = format === 'semicolon' ? { separator: 'semicolon' } : {};
      const answer = await fetch(urlOf(path, { params }), {
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...filters, format: format === 'jsonl' ? 'jsonl' : 'csv', ...separator }),
        signal: stop.signal,
      });
      if (answer.status === 401) isSignedOut.set(true);
      if (!answer.ok) throw faultOf(answer.status, await answer.json().catch(() => null));
      const file = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'export';
      saveFile({ name: file, content: await answer.blob() });
    },
    onSuccess: onClose,
  });
  const options = FORMATS.map((value) => ({ value, text: formats[value] }));
  return (
    <FormDialog name={name} text={text} isDirty={false} action={download} fields={[]} onClose={onClose}>
      <Choices label={formatLabel} value={format} options={options} onValue={setFormat} />
    </FormDialog>
  );
}
