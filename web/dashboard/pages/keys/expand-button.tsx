import { Button } from '../../ui/button.tsx';

interface ExpandButtonProps {
  readonly isOpen: boolean;
  /** The id of what it opens. */
  readonly controls: string;
  /** The accessible name, which says of what it opens the rest. */
  readonly label: string;
  readonly text: string;
  readonly onOpen: (isOpen: boolean) => void;
}

/** Shows and hides the rest of a row. */
export function ExpandButton({ isOpen, controls, label, text, onOpen }: ExpandButtonProps) {
  const controlled = isOpen ? { 'aria-controls': controls } : {};
  return (
    <Button
      small
      kind="quiet"
      aria-expanded={isOpen}
      {...controlled}
      aria-label={label}
      onClick={() => onOpen(!isOpen)}
    >
      {text}
    </Button>
  );
}
