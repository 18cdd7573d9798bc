import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useDashboard } from '../../../dashboard.ts';
import { useLocale } from '../../../locale.tsx';
import { useScope } from '../../../scope.ts';
import { Button } from '../../../ui/button.tsx';
import { Form, TextArea } from '../../../ui/form.tsx';
import { Notice, Problem } from '../../../ui/notice.tsx';
import css from './sign.module.css';

/** The server's limit, in characters of base64. */
const MAX_SIGNED = 2_000_000;
const MAX_FILE_BYTES = 1_500_000;

interface SignedFormProps {
  readonly ids: readonly string[];
  readonly onAgain: () => void;
  readonly onSent: () => void;
}

/** Takes the signed PSBT, pasted or from a file, which the server checks and sends. */
export function SignedForm({ ids, onAgain, onSent }: SignedFormProps) {
  const { t } = useLocale('signing');
  const { api, toast } = useDashboard();
  const scope = useScope();
  const [signed, setSigned] = useState('');
  const [fault, setFault] = useState<'signed_missing' | 'signed_too_long' | null>(null);
  const send = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/:mode/signing/send', {
        params: { ...scope },
        body: { refunds: [...ids], signed },
      }),
    onSuccess: ({ outcome }) => {
      if (outcome === 'refused') return;
      if (outcome === 'sent') toast(t('signed_sent'));
      onSent();
    },
  });
  const take = (text: string): void => {
    setSigned(text);
    setFault(null);
    send.reset();
  };
  const open = async (chosen: File): Promise<void> => {
    if (chosen.size > MAX_FILE_BYTES) setFault('signed_too_long');
    else take(textOfFile(new Uint8Array(await chosen.arrayBuffer())));
  };
  const submit = (): void => {
    if (signed.trim() === '') setFault('signed_missing');
    else if (signed.length > MAX_SIGNED) setFault('signed_too_long');
    else send.mutate();
  };
  return (
    <Form isDirty={signed !== ''} fault={fault ?? send.error} onSubmit={submit}>
      <div className={css.signed}>
        <TextArea
          label={t('signed_psbt')}
          value={signed}
          rows={4}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          hint={t('signed_hint')}
          problem={fault === null ? null : t(fault)}
          onValue={take}
        />
      </div>
      <Problem error={send.error} />
      {send.data?.outcome === 'refused' ? <Refusal {...send.data} /> : null}
      <div className={css.buttons}>
        <FileButton onFile={(chosen) => void open(chosen)} />
        {send.data?.outcome === 'refused' ? <Button onClick={onAgain}>{t('signing_again')}</Button> : null}
        <Button kind="primary" type="submit" busy={send.isPending}>
          {t('send_signed')}
        </Button>
      </div>
    </Form>
  );
}

interface RefusalProps {
  readonly message: string | null;
  readonly differences: readonly string[];
}

/** Why nothing was sent, with the differences to the shown transaction. */
function Refusal({ message, differences }: RefusalProps) {
  return (
    <Notice kind="problem">
      {message}
      {differences.length === 0 ? null : (
        <ul className={css.differences}>
          {differences.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

function FileButton({ onFile }: { readonly onFile: (file: File) => void }) {
  const { t } = useLocale('signing');
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".psbt,.txt,.hex,.txn,.tx,application/octet-stream,text/plain"
        aria-label={t('open_signed')}
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? [];
          if (chosen !== undefined) onFile(chosen);
          event.currentTarget.value = '';
        }}
      />
      <Button onClick={() => input.current?.click()}>{t('open_signed')}</Button>
    </>
  );
}

/** The content of a file with a signed transaction: unchanged if it is text, otherwise in base64. */
function textOfFile(bytes: Uint8Array): string {
  const isText = bytes.every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127));
  return isText ? new TextDecoder().decode(bytes).trim() : base64OfBytes(bytes);
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function base64OfBytes(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
