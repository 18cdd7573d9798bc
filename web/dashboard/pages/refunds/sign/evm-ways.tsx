import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Signing } from '../../../../../src/http/dashboard/signing/contract.ts';
import type { WalletCall } from '../../../../../src/http/dashboard/contract-parts.ts';
import type { Wallet } from '../../../../wallets/announcement.ts';
import { isTransient, useDashboard } from '../../../dashboard.ts';
import { useLocale } from '../../../locale.tsx';
import { problemOf, problemText } from '../../../problem.ts';
import { Button } from '../../../ui/button.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { Field } from '../../../ui/field.tsx';
import { CopyButton } from '../../../ui/value.tsx';
import { sendCall, type SendEnd, type SendStep } from '../../../wallets/send-call.ts';
import { WalletPicker, SendText } from '../../../wallets/wallet-picker.tsx';
import css from './sign.module.css';
import { QrCode } from '../../payments/qr-code.tsx';
import { useScope } from '../../../scope.ts';

interface EvmWaysProps {
  readonly signing: Signing;
  readonly call: WalletCall;
  /** Whether the shown transaction is still current; otherwise the current one is shown. */
  readonly isCurrent: () => Promise<boolean>;
  readonly onSent: () => void;
}

const REPORT_AGAIN_MS = 3_000;

type Way = 'wallet' | 'uri' | 'call';

/** A transaction by a wallet of this browser, by QR code, or field by field. */
export function EvmWays(props: EvmWaysProps) {
  const { signing, call } = props;
  const { t } = useLocale('signing', 'sending');
  const [way, setWay] = useState<Way>('wallet');
  const { payment_uri: uri } = signing;
  const options: readonly { readonly value: Way; readonly text: string; readonly detail?: string }[] = [
    { value: 'wallet', text: t('way_wallet') },
    ...(uri === null ? [] : [{ value: 'uri' as const, text: t('way_uri') }]),
    { value: 'call', text: t('way_call'), detail: t('way_call_detail') },
  ];
  return (
    <>
      <Choices<Way> label={t('signing_way')} value={way} options={options} onValue={setWay} />
      {way === 'wallet' ? <BrowserWallets {...props} /> : null}
      {way === 'uri' && uri !== null ? <UriWay uri={uri} /> : null}
      {way === 'call' ? <CallFields call={call} /> : null}
      {way === 'wallet' ? null : <SentElsewhere {...props} />}
    </>
  );
}

interface Asked {
  readonly wallet: Wallet;
  readonly state: SendStep | SendEnd;
}

function BrowserWallets({ signing, call, isCurrent, onSent }: EvmWaysProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const { network_name: network, chain, refunds } = signing;
  const report = useReport(refunds[0]?.id ?? '');
  const isAsking = asked !== null && typeof asked.state === 'string';
  const pay = async (wallet: Wallet): Promise<void> => {
    const show = (state: SendStep | SendEnd): void => setAsked({ wallet, state });
    show('confirm');
    // The dialog may be open for hours, in which somebody else pays.
    if (!(await isCurrent())) return setAsked(null);
    const end = await sendCall(wallet, call, chain, show);
    show(end);
    if (end.kind !== 'sent' || end.hash === null) return;
    onSent();
    // Sent even if the dialog was closed meanwhile: the next person who opens it must not pay again.
    report.mutate(end.hash);
  };
  return (
    <div className={css.way}>
      <WalletPicker
        asking={isAsking ? asked.wallet.uuid : null}
        onPick={(wallet) => (isAsking ? undefined : void pay(wallet))}
      />
      <SendText wallet={asked?.wallet.name ?? ''} network={network} state={asked?.state ?? null} />
    </div>
  );
}

/** Reports the transaction that pays a refund, again and again until the server has heard of it. */
function useReport(refund: string) {
  const { api, toast } = useDashboard();
  const { t } = useLocale('signing');
  const params = { ...useScope() };
  return useMutation({
    // A retry of the library would wait while the tab is hidden.
    mutationFn: async (hash: string) => {
      for (;;) {
        try {
          const body = { refund, transaction_hash: hash };
          return await api('POST /dashboard/api/projects/:project/:mode/signing/sent', { params, body });
        } catch (error) {
          if (!isTransient(error)) throw error;
          await new Promise((resolve) => setTimeout(resolve, REPORT_AGAIN_MS));
        }
      }
    },
    onError: (error) => toast(problemText(error, t), 'problem'),
  });
}

/** Where the service cannot see what a wallet sends, the person gives its hash, so that nobody pays a second time. */
function SentElsewhere({ signing: { refunds }, onSent }: EvmWaysProps) {
  const { t } = useLocale('signing');
  const [hash, setHash] = useState('');
  const report = useReport(refunds[0]?.id ?? '');
  return (
    <form
      className={css.way}
      onSubmit={(event) => {
        event.preventDefault();
        report.mutate(hash.trim().toLowerCase(), { onSuccess: onSent });
      }}
    >
      <Field
        label={t('sent_hash')}
        hint={t('sent_hash_hint')}
        value={hash}
        max={66}
        required
        autoComplete="off"
        problem={problemOf(report.error, 'transaction_hash')}
        onValue={setHash}
      />
      <div className={css.buttons}>
        <Button type="submit" busy={report.isPending}>
          {t('sent_report')}
        </Button>
      </div>
    </form>
  );
}

function CallFields({ call: { chain_id, to, value, data } }: { readonly call: WalletCall }) {
  const { t } = useLocale('signing', 'sending');
  const fields = [
    ['field_chain', String(chain_id)],
    ['field_to', to],
    ['field_value', value],
    ['field_data', data],
  ] as const;
  return (
    <dl className={css.facts}>
      {fields.map(([name, text]) => (
        <div key={name}>
          <dt>{t(name)}</dt>
          <dd>
            <code className={css.whole}>{text}</code>
            <CopyButton text={text}>{t('copy_what', { what: t(name) })}</CopyButton>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The payment URI as a QR code and as text to copy. */
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
