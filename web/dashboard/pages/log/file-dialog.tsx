import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { urlOf } from '../../api.ts';
import { noteRefusal, useDashboard } from '../../dashboard.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';
import { downloadFile, saveFile, useAbort } from '../../download.ts';

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
  /** The filters of the file. */
  readonly filters: object;
  readonly onClose: () => void;
}

/** Downloads a file of all rows that the filters mean. Leaving the dialog stops it. */
export function FileDialog(props: FileDialogProps) {
  const { name, text, formatLabel, formats, path, params, filters, onClose } = props;
  const dashboard = useDashboard();
  const [format, setFormat] = useState<Format>('csv');
  const { begin } = useAbort();
  const download = useMutation({
    mutationFn: async () => {
      const separator = format === 'semicolon' ? { separator: 'semicolon' } : {};
      const request = { ...filters, format: format === 'jsonl' ? 'jsonl' : 'csv', ...separator };
      const watching = { signal: begin().signal, onProgress: () => {} };
      saveFile(await downloadFile(urlOf(path, { params }), request, watching));
    },
    onError: (error) => noteRefusal(dashboard, error),
    onSuccess: onClose,
  });
  const options = FORMATS.map((value) => ({ value, text: formats[value] }));
  return (
    <FormDialog name={name} text={text} isDirty={false} action={download} fields={[]} onClose={onClose}>
      <Choices label={formatLabel} value={format} options={options} onValue={setFormat} />
    </FormDialog>
  );
}
