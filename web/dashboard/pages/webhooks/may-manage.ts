import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';

/** Whether the person may change endpoints and send again. The server checks this too. */
export function useMayManage(): boolean {
  const { project } = useScope();
  return (
    useSignedIn()
      .projects.find(({ id }) => id === project)
      ?.actions.includes('manage_webhooks') === true
  );
}
