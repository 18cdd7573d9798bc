import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useLocale } from '../../../locale.tsx';
import { useScope } from '../../../scope.ts';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { labelsQuery } from '../queries.ts';

export interface LabelChange {
  readonly what: 'add' | 'remove';
  readonly label: string;
}

interface LabelDialogProps {
  readonly what: LabelChange['what'];
  readonly count: number;
  readonly onLabel: (label: string) => void;
  readonly onClose: () => void;
}

/** The server's limit. */
const MAX_LENGTH = 40;

/** Asks for the label of the chosen payments; suggests those of the project. */
export function LabelDialog({ what, count, onLabel, onClose }: LabelDialogProps) {
  const { t } = useLocale('bulk');
  const list = useId();
  const { data: labels = [] } = useQuery(labelsQuery(useScope()));
  const [text, setText] = useState('');
  const [isChecked, check] = useState(false);
  const label = text.trim();
  const problem = label === '' ? t('bulk_label_missing') : label.includes(',') ? t('bulk_label_comma') : null;
  const name = t(what === 'add' ? 'bulk_add_label' : 'bulk_remove_label');
  return (
    <Dialog title={name} description={t(`bulk_${what}_text`, { count })} onClose={onClose}>
      <Form
        isDirty={label !== ''}
        onSubmit={() => {
          check(true);
          if (problem === null) onLabel(label);
        }}
      >
        <Field
          label={t('label')}
          value={text}
          max={MAX_LENGTH}
          list={list}
          autoComplete="off"
          problem={isChecked ? problem : null}
          onValue={setText}
        />
        <datalist id={list}>
          {labels.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <DialogActions confirm={name} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
