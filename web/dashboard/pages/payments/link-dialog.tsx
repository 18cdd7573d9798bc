import { lazy, Suspense, type ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { CopyButton } from '../../ui/value.tsx';
import css from './payment/payment-parts.module.css';

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

interface LinkDialogProps {
  readonly title: string;
  readonly text: string;
  /** Whose page the link opens. */
  readonly of: 'payment' | 'refund';
  readonly url: string;
  /** The customer's e-mail; empty if it is not known. */
  readonly email: string;
  readonly onClose: () => void;
  /** Further links. */
  readonly children?: ReactNode;
}

/** A link for the customer: to copy, to mail, to open, and to scan from this screen. */
export function LinkDialog({ title, text, of, url, email, onClose, children }: LinkDialogProps) {
  const { t } = useLocale('detail');
  const mail = `mailto:${encodeURIComponent(email)}?subject=${encodeURIComponent(t(`${of}_link`))}&body=${encodeURIComponent(url)}`;
  return (
    <Dialog title={title} description={text} onClose={onClose}>
      <Field label={t(`${of}_link`)} value={url} readOnly onValue={() => {}} />
      <div className={css.scan}>
        <Suspense>
          <QrCode content={url} label={t('link_qr')} />
        </Suspense>
      </div>
      <div className={css.end}>
        {children}
        {email === '' ? null : (
          <a className={buttonClass({ small: true })} href={mail}>
            {t('link_mail', { email })}
          </a>
        )}
        <OpenPage of={of} url={url} />
        <CopyButton text={url}>{t('copy_link')}</CopyButton>
      </div>
    </Dialog>
  );
}

/** Opens the customer's page in a new tab. */
export function OpenPage({ of, url }: Pick<LinkDialogProps, 'of' | 'url'>) {
  const { t } = useLocale('detail');
  return (
    <a className={buttonClass({ small: true })} href={url} target="_blank" rel="noreferrer">
      {t(`open_${of}_page`)}
      <Icon name="external" size={14} />
    </a>
  );
}
