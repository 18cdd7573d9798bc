import { useLocale } from '../../locale.tsx';
import { Field } from '../../ui/field.tsx';

interface NumberFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint: string;
  readonly problem: string | null;
  readonly required?: boolean;
  readonly onValue: (text: string) => void;
}

/** A field for a whole number. The browser sends no form with anything else. */
export function WholeNumberField(props: NumberFieldProps) {
  const { t } = useLocale('wallets');
  return <Field {...props} inputMode="numeric" pattern="\d{1,9}" title={t('wallet_whole_number')} autoComplete="off" />;
}

/** A field for a percentage, which the server checks. */
export function PercentField(props: NumberFieldProps) {
  return <Field {...props} inputMode="decimal" max={10} autoComplete="off" />;
}

/** What was typed of a percentage as the server reads it: some people write decimals with a comma. */
export function percentOf(text: string): string {
  return text.trim().replace(',', '.');
}
