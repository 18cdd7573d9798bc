import { useState, useEffect, useMemo, useRef } from 'react';
import type { Signing } from '../../../../../src/http/dashboard/signing/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { Coin, CopyButton } from '../../../ui/value.tsx';
import { saveFile } from '../../../download.ts';
import css from './sign.module.css';
import { QrCode } from '../../payments/qr-code.tsx';
import { UriWay } from './evm-ways.tsx';
import { psbtUr } from './ur.ts';
import { useMutation } from '@tanstack/react-query';
import { useDashboard } from '../../../dashboard.ts';
import { Form, TextArea } from '../../../ui/form.tsx';
import { Notice, Problem } from '../../../ui/notice.tsx';
import { useScope } from '../../../scope.ts';

/** The speed that cameras of hardware wallets can read. */
const FRAME_MS = 250;

/** A PSBT as an endless sequence of QR codes; a wallet needs any sufficient subset. */
function AnimatedQr({ psbt }: { readonly psbt: string }) {
  const { t } = useLocale('signing');
  const encoder = useMemo(() => psbtUr(bytesOfBase64(psbt)), [psbt]);
  const [place, setPlace] = useState(1);
  const [isPlaying, setPlaying] = useState(true);
  const [frame, setFrame] = useState<string | null>(null);
  const { count } = encoder;
  useEffect(() => {
    let isShown = true;
    void encoder.part(place).then((part) => (isShown ? setFrame(part) : undefined));
    return () => {
      isShown = false;
    };
  }, [encoder, place]);
  useEffect(() => {
    if (!isPlaying || count === 1) return undefined;
    const timer = setInterval(() => setPlace((before) => before + 1), FRAME_MS);
    return () => clearInterval(timer);
  }, [isPlaying, count]);
  return (
    <div className={css.way}>
      {frame === null ? <div className={css.waiting} /> : <QrCode content={frame} label={t('qr_animated')} isFrame />}
      {count === 1 ? null : (
        <div className={css.frames}>
          <span className={css.soft}>{t('qr_part', { place, count })}</span>
          <Button small onClick={() => setPlaying(!isPlaying)}>
            {t(isPlaying ? 'qr_pause' : 'qr_play')}
          </Button>
        </div>
      )}
    </div>
  );
}

interface PsbtWaysProps {
  readonly signing: Signing;
  readonly psbt: NonNullable<Signing['psbt']>;
  readonly ids: readonly string[];
  readonly onAgain: () => void;
  readonly onSent: () => void;
}

type Way = 'psbt' | 'animated' | 'uri';

/** Exchanges a PSBT by file or QR code; for a single refund also the payment URI. */
export function PsbtWays({ signing, psbt, ids, onAgain, onSent }: PsbtWaysProps) {
  const { t } = useLocale('signing');
  const [way, setWay] = useState<Way>('psbt');
  const { payment_uri: uri, refunds } = signing;
  const asset = refunds[0]?.asset ?? '';
  const options: readonly { readonly value: Way; readonly text: string; readonly detail: string }[] = [
    { value: 'psbt', text: t('way_psbt'), detail: t('way_psbt_detail') },
    { value: 'animated', text: t('way_animated'), detail: t('way_animated_detail') },
    ...(uri === null ? [] : [{ value: 'uri' as const, text: t('way_uri'), detail: t('way_uri_detail') }]),
  ];
  return (
    <>
      <Choices<Way> label={t('signing_way')} value={way} options={options} onValue={setWay} />
      {way === 'uri' && uri !== null ? (
        <UriWay uri={uri} />
      ) : (
        <>
          <dl className={css.facts}>
            <div>
              <dt>{t('signing_fee')}</dt>
              <dd>
                <Coin amount={psbt.fee} asset={asset} />
              </dd>
            </div>
            <div>
              <dt>{t('signing_change')}</dt>
              <dd>
                {psbt.change_address === null ? t('signing_no_change') : <Coin amount={psbt.change} asset={asset} />}
                {psbt.change_address === null ? null : <code className={css.whole}>{psbt.change_address}</code>}
              </dd>
            </div>
          </dl>
          {way === 'animated' ? (
            <AnimatedQr psbt={psbt.psbt} />
          ) : (
            <div className={css.buttons}>
              <CopyButton text={psbt.psbt}>{t('copy_psbt')}</CopyButton>
              <Button small onClick={() => saveFile(fileOf(psbt.psbt, ids))}>
                {t('download_psbt')}
              </Button>
            </div>
          )}
          <SignedForm ids={ids} onAgain={onAgain} onSent={onSent} />
        </>
      )}
    </>
  );
}

/** Binary, as wallets open PSBT files (BIP 174). */
function fileOf(psbt: string, ids: readonly string[]) {
  const [first = 'refund'] = ids;
  const name = ids.length === 1 ? `${first}.psbt` : `${first}-and-${ids.length - 1}-more.psbt`;
  return { name, content: new Blob([bytesOfBase64(psbt)], { type: 'application/octet-stream' }) };
}

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
