import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import css from './log.module.css';

export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className={css.facts}>{children}</dl>;
}

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
}

export function Fact({ name, children }: FactProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** The payment that a record is about, if it is about one. */
export function PaymentFact({ payment }: { readonly payment: string | null }) {
  const { t } = useLocale();
  const scope = useScope();
  if (payment === null) return null;
  return (
    <Fact name={t('payment')}>
      <Link to="/projects/$project/$mode/payments/$payment" params={{ ...scope, payment }}>
        {payment}
      </Link>
    </Fact>
  );
}
