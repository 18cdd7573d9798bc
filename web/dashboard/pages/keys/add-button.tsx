import { Button } from '../../ui/button.tsx';

interface AddButtonProps {
  readonly name: string;
  /** Whether the person's role permits it. */
  readonly isPermitted: boolean;
  readonly onAdd: () => void;
}

/** The main action of a page that lists what people make. */
export function AddButton({ name, isPermitted, onAdd }: AddButtonProps) {
  if (!isPermitted) return null;
  return (
    <Button kind="primary" icon="plus" onClick={onAdd}>
      {name}
    </Button>
  );
}
