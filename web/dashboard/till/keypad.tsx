import { useEffect, useState, type ReactNode } from 'react';
import { fiatDecimals, formatDecimal, maxAmountMinor, type Fiat } from '../../../src/domain/money.ts';
import type { AnswerOf } from '../../../src/http/dashboard/contract.ts';
import { useLocale } from '../locale.tsx';
import { Button } from '../ui/button.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { coinKey, useCoinName } from './coins.ts';
import { recall, remember } from './memory.ts';
import { wakeSound } from './sound.ts';
import { TillIcon } from './till-icon.tsx';
import css from './till.module.css';
import type { useCharge } from './use-charge.ts';

export type TillSettings = AnswerOf<'GET /dashboard/api/projects/:project/:mode/till'>;

interface KeypadProps {
  readonly settings: TillSettings;
  readonly charge: ReturnType<typeof useCharge>;
}

/** The amount, by keys for fingers, and what belongs to it. */
export function Keypad({ settings, charge }: KeypadProps) {
  const { t, fiat } = useLocale('till');
  const [tip, setTip] = useState(0);
  const [note, setNote] = useState('');
  const [currency, setCurrency] = useState<Fiat>(() => firstCurrency(settings));
  const [coin, setCoin] = useState(() => recall().coin ?? '');
  const { minor, press, erase } = useAmount(currency);
  const chosen = settings.coins.find((one) => coinKey(one) === coin) ?? settings.coins[0];
  // Half a cent is rounded up.
  const tipMinor = (minor * BigInt(tip) * 2n + 100n) / 200n;
  const text = (of: bigint): string => formatDecimal(of, fiatDecimals(currency));
  const total = fiat(text(minor + tipMinor), currency);
  const send = (): void => {
    if (minor === 0n || charge.isPending) return;
    wakeSound();
    charge.charge({
      amount: text(minor),
      currency,
      ...(tipMinor > 0n && { tip: text(tipMinor) }),
      ...(note.trim() !== '' && { note: note.trim() }),
      ...(chosen !== undefined && { asset: chosen.asset, network: chosen.network }),
    });
  };
  return (
    <div className={css.keypad}>
      <div className={css.entry}>
        {settings.coins.length === 0 ? <Notice kind="warning">{t('till_no_coins')}</Notice> : null}
        <Problem error={charge.fault} />
        <output className={css.amount} aria-label={t('till_amount')}>
          {total}
          {tipMinor > 0n ? <small>{t('till_with_tip', { tip: fiat(text(tipMinor), currency) })}</small> : null}
        </output>
        <Tips settings={settings} chosen={tip} onChoose={setTip} />
        <Options settings={settings} currency={currency} onCurrency={setCurrency} coin={chosen} onCoin={setCoin}>
          <input
            value={note}
            maxLength={200}
            autoComplete="off"
            title={t('till_note_hint')}
            onChange={({ currentTarget: { value } }) => setNote(value)}
          />
        </Options>
      </div>
      <Pad press={press} erase={erase}>
        <button
          type="button"
          className={css.charge}
          aria-disabled={minor === 0n || charge.isPending}
          aria-busy={charge.isPending}
          onClick={send}
        >
          {charge.isPending
            ? t('till_sending')
            : minor === 0n
              ? t('till_charge_none')
              : t('till_charge', { amount: total })}
        </button>
      </Pad>
    </div>
  );
}

/** The typed amount in minor units: digits fill it from the right, as on other tills. */
function useAmount(currency: Fiat) {
  const [digits, setDigits] = useState('');
  const press = (key: string): void =>
    setDigits((before) => {
      const after = `${before}${key}`.replace(/^0+/, '');
      return BigInt(`0${after}`) > maxAmountMinor(currency) ? before : after;
    });
  const erase = (): void => setDigits((before) => before.slice(0, -1));
  useEffect(() => {
    // A real keyboard works too, unless another control has the focus.
    const take = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      const isElsewhere = target instanceof HTMLElement && target.closest('input, select, [role=dialog]') !== null;
      if (isElsewhere || ctrlKey || metaKey || altKey) return;
      if (/^\d$/.test(key)) press(key);
      else if (key === 'Backspace') erase();
    };
    addEventListener('keydown', take);
    return () => removeEventListener('keydown', take);
  });
  return { minor: BigInt(`0${digits}`), press, erase };
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '00', '0'] as const;

interface PadProps {
  readonly press: (key: string) => void;
  readonly erase: () => void;
  readonly children: ReactNode;
}

function Pad({ press, erase, children }: PadProps) {
  const { t } = useLocale('till');
  return (
    <div className={css.pad} role="group" aria-label={t('till_keys')}>
      {KEYS.map((key) => (
        <button key={key} type="button" onClick={() => press(key)}>
          {key}
        </button>
      ))}
      <button type="button" aria-label={t('till_delete')} onClick={erase}>
        <TillIcon name="backspace" size={26} />
      </button>
      {children}
    </div>
  );
}

interface TipsProps {
  readonly settings: TillSettings;
  readonly chosen: number;
  readonly onChoose: (percent: number) => void;
}

function Tips({ settings: { tips }, chosen, onChoose }: TipsProps) {
  const { t, percent } = useLocale('till');
  if (tips.length === 0) return null;
  return (
    <div className={css.tips} role="group" aria-label={t('till_tip')}>
      {[0, ...tips].map((one) => (
        <Button key={one} aria-pressed={chosen === one} onClick={() => onChoose(one)}>
          {one === 0 ? t('till_tip_none') : percent(one)}
        </Button>
      ))}
    </div>
  );
}

interface OptionsProps {
  readonly settings: TillSettings;
  readonly currency: Fiat;
  readonly onCurrency: (currency: Fiat) => void;
  readonly coin: TillSettings['coins'][number] | undefined;
  readonly onCoin: (key: string) => void;
  /** The field of the note. */
  readonly children: ReactNode;
}

/** The currency and the coin, which this device remembers, and the note. */
function Options({ settings, currency, onCurrency, coin, onCoin, children }: OptionsProps) {
  const { t } = useLocale('till');
  const nameOf = useCoinName();
  return (
    <div className={css.options}>
      <label>
        <span>{t('currency')}</span>
        <select
          value={currency}
          onChange={({ currentTarget: { value } }) => {
            const next = settings.currencies.find((one) => one === value) ?? currency;
            remember({ currency: next });
            onCurrency(next);
          }}
        >
          {settings.currencies.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label>
        <span>{t('coin')}</span>
        <select
          value={coin === undefined ? '' : coinKey(coin)}
          disabled={coin === undefined}
          onChange={({ currentTarget: { value } }) => {
            remember({ coin: value });
            onCoin(value);
          }}
        >
          {settings.coins.map((one) => (
            <option key={coinKey(one)} value={coinKey(one)}>
              {nameOf(one)}
            </option>
          ))}
        </select>
      </label>
      <label className={css.note}>
        <span>{t('till_note')}</span>
        {children}
      </label>
    </div>
  );
}

function firstCurrency({ currency, currencies }: TillSettings): Fiat {
  const last = recall().currency;
  return currencies.find((one) => one === last) ?? currency;
}
