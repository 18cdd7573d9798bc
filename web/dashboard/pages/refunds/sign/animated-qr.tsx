import { useEffect, useMemo, useState } from 'react';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { bytesOfBase64 } from './base64.ts';
import { QrCode } from './qr-code.tsx';
import css from './sign.module.css';
import { psbtUr } from './ur.ts';

/** As fast as the cameras of hardware wallets read. */
const FRAME_MS = 250;

/** A PSBT as an endless row of QR codes, of which a wallet needs any that are enough. */
export function AnimatedQr({ psbt }: { readonly psbt: string }) {
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
