import { useState } from 'react';
import { urlOf } from '../../api.ts';
import { FORMATS, formatOf, useDownload, type Format } from '../../download.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';

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

/** Downloads a file of all rows that match the filters. Leaving the dialog stops it. */
export function FileDialog(props: FileDialogProps) {
  const { name, text, formatLabel, formats, path, params, filters, onClose } = props;
  const [format, setFormat] = useState<Format>('csv');
  const { progress, fault, start } = useDownload(urlOf(path, { params }), onClose);
  const download = {
    isPending: progress !== null,
    error: fault,
    mutate: () => start({ ...filters, ...formatOf(format) }),
  };
  const options = FORMATS.map((value) => ({ value, text: formats[value] }));
  return (
    <FormDialog name={name} text={text} action={download} onClose={onClose}>
      <Choices label={formatLabel} value={format} options={options} onValue={setFormat} />
    </FormDialog>
  );
}
