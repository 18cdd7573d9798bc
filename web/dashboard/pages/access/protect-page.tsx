import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useSignOut } from '../../shell/account-button.tsx';
import { Button } from '../../ui/button.tsx';
import { AccessFrame } from './access-frame.tsx';
import { FactorChoices } from './factor-choices.tsx';

/** Offers a second factor to people without one, who can skip it unless their role requires one. */
export function ProtectPage() {
  const { t } = useLocale('access');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { data: session } = useSuspenseQuery(sessionQuery);
  const leave = async (): Promise<void> => {
    await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
    await navigate({ to: '/', replace: true });
  };
  if (session.state !== 'signed_in') return <Navigate to="/sign-in" replace />;
  const isRequired = session.must_add_factor;
  return (
    <AccessFrame
      title={t(isRequired ? 'factor_required_title' : 'protect_title')}
      lead={t(isRequired ? 'factor_required_text' : 'protect_text')}
    >
      <FactorChoices onDone={() => void leave()} />
      <Button kind="quiet" wide onClick={() => void (isRequired ? signOut() : leave())}>
        {t(isRequired ? 'sign_out' : 'not_now')}
      </Button>
    </AccessFrame>
  );
}
