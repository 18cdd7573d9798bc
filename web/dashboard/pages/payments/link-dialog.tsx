import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { CopyButton } from '../../ui/value.tsx';
import css from './payment/payment-parts.module.css';

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

interface LinkDialogProps {
  readonly title: string;
  readonly text: string;
  /** The link opens the page of this record. */
  readonly of: 'payment' | 'refund' | 'request';
  readonly url: string;
  /** The customer's e-mail; empty if it is not known. */
  readonly email: string;
  /** Whether the code is also for a sheet of paper. */
  readonly canPrint?: boolean;
  readonly onClose: () => void;
  /** Further links. */
  readonly children?: ReactNode;
}

/** A link for the customer: to copy, to mail, to open, and to scan from this screen. */
export function LinkDialog({ title, text, of, url, email, canPrint = false, onClose, children }: LinkDialogProps) {
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
      {canPrint ? (
        <div className={css.sheet}>
          <p>{title}</p>
          <Suspense>
            <QrCode content={url} label={t('link_qr')} />
          </Suspense>
          <p>{url}</p>
        </div>
      ) : null}
      <div className={css.end}>
        {children}
        {canPrint ? (
          <Button small onClick={() => print()}>
            {t('link_print')}
          </Button>
        ) : null}
        {email === '' ? null : (
          <a className={buttonClass({ small: true })} href={mail}>
            {t('link_mail')}
          </a>
        )}
        <OpenPage of={of} url={url} />
        <CopyButton kind="primary" text={url}>
          {t('copy_link')}
        </CopyButton>
      </div>
    </Dialog>
  );
}

/** Opens, copies and shows the link of a page. */
export function PageLinks({ of, url, ...dialog }: Omit<LinkDialogProps, 'onClose' | 'children'>) {
  const { t } = useLocale('detail');
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={css.actions}>
      <OpenPage of={of} url={url} isNamed />
      <CopyButton text={url}>{t('copy_link')}</CopyButton>
      <Button small onClick={() => setOpen(true)}>
        {t('qr_code')}
      </Button>
      {isOpen ? <LinkDialog {...dialog} of={of} url={url} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

interface OpenPageProps extends Pick<LinkDialogProps, 'of' | 'url'> {
  /** Whether the words around it already name the page. */
  readonly isNamed?: boolean;
}

/** Opens the customer's page in a new tab. */
function OpenPage({ of, url, isNamed = false }: OpenPageProps) {
  const { t } = useLocale('detail');
  const name = t(`open_${of}_page`);
  return (
    <a className={buttonClass({ small: true })} href={url} target="_blank" rel="noreferrer" aria-label={name}>
      {isNamed ? t('open_page_short') : name}
      <Icon name="external" size={14} />
    </a>
  );
}
