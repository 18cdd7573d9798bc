import { useState, useEffect, useMemo } from 'react';
import type { Signing } from '../../../../../src/http/dashboard/signing/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { CopyButton } from '../../../ui/value.tsx';
import { saveFile } from '../../../download.ts';
import { bytesOfBase64, SignedForm } from './signed-form.tsx';
import css from './sign.module.css';
import { UriWay, QrCode } from './qr-code.tsx';
import { psbtUr } from './ur.ts';

/** As fast as the cameras of hardware wallets can read. */
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
      {frame === null ? <div className={css.qr} /> : <QrCode content={frame} label={t('qr_animated')} isFrame />}
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
                {psbt.fee} {asset}
              </dd>
            </div>
            <div>
              <dt>{t('signing_change')}</dt>
              <dd>
                {psbt.change_address === null ? t('signing_no_change') : `${psbt.change} ${asset}`}
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
