import { Link } from '@tanstack/react-router';
import { useScope } from '../../scope.ts';
import { buttonClass } from '../../ui/button.tsx';

interface LogOfPaymentProps {
  readonly log: 'event-log' | 'webhooks';
  readonly payment: string;
  readonly text: string;
}

/** A link to the events or deliveries of one payment. */
export function LogOfPayment({ log, payment, text }: LogOfPaymentProps) {
  return (
    <Link
      className={buttonClass({ small: true })}
      to={`/projects/$project/$mode/${log}`}
      params={useScope()}
      search={{ payment }}
    >
      {text}
    </Link>
  );
}
