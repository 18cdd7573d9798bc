/** A measured figure beside its target. */
export interface Figure {
  readonly name: string;
  readonly measured: string;
  readonly target: string;
  readonly holds: boolean;
}

export function print(figure: Figure): void {
  console.log(`${figure.holds ? 'ok   ' : 'SHORT'}  ${figure.name}: ${figure.measured} (target ${figure.target})`);
}
