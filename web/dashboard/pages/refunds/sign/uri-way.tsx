import { useLocale } from '../../../locale.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { QrCode } from './qr-code.tsx';
import css from './sign.module.css';

/** The payment URI as a QR code and to copy. */
export function UriWay({ uri }: { readonly uri: string }) {
  const { t } = useLocale('signing');
  return (
    <div className={css.way}>
      <QrCode content={uri} label={t('qr_uri')} />
      <code className={css.whole}>{uri}</code>
      <div className={css.buttons}>
        <CopyButton text={uri}>{t('copy_uri')}</CopyButton>
      </div>
    </div>
  );
}
