import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import solc from 'solc';

/**
 * Writes contracts/artifact.json and contracts/test/artifact.json from the Solidity beside them; with --check it only
 * reports files that are not up to date.
 */
const CONTRACTS = path.join(import.meta.dirname, '../contracts');

const LIBRARY = '@openzeppelin/contracts/';
const LIBRARY_FOLDER = path.dirname(createRequire(import.meta.url).resolve('@openzeppelin/contracts/package.json'));

/**
 * Everything besides the sources that the bytecode depends on. `paris` has no PUSH0, which some EVM chains lack.
 * Without metadata the bytecode does not depend on paths and comments.
 */
const SETTINGS = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
};

export interface CompiledContract {
  readonly abi: readonly unknown[];
  /** The code that creates the contract, without constructor arguments: `0x` and hex digits. */
  readonly initCode: string;
}

export interface ContractArtifact {
  readonly compiler: string;
  readonly settings: typeof SETTINGS;
  readonly contracts: { readonly Deposit: CompiledContract; readonly DepositFactory: CompiledContract };
}

/**
 * The deposit contracts as the service uses them; `v1/`: those it used first, whose deposits it still empties. Throws
 * with the compiler's message if they do not compile.
 */
export function compileArtifact(folder: '' | 'v1/' = ''): ContractArtifact {
  const contracts = compileContracts([`${folder}Deposit.sol`, `${folder}DepositFactory.sol`]);
  return {
    compiler: solc.version(),
    settings: SETTINGS,
    contracts: { Deposit: named(contracts, 'Deposit'), DepositFactory: named(contracts, 'DepositFactory') },
  };
}

/** The contracts that stand in for tokens, treasuries and payers in tests, by name. */
export function compileTestContracts(): Readonly<Record<string, CompiledContract>> {
  return Object.fromEntries(compileContracts(['test/Tokens.sol', 'test/Accounts.sol']));
}

/** All contracts defined in these files of `contracts/`, by name. Throws if the compiler reports anything. */
function compileContracts(files: readonly string[]): ReadonlyMap<string, CompiledContract> {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(files.map((file) => [file, { content: readSource(file) }])),
    settings: { ...SETTINGS, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  };
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input), { import: importSource }));
  const complaints = (output.errors ?? []).map(({ formattedMessage }) => formattedMessage);
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
  return new Map(
    files.flatMap((file) =>
      Object.entries(output.contracts?.[file] ?? {}).map(([name, { abi, evm }]) => [
        name,
        { abi, initCode: `0x${evm.bytecode.object}` },
      ]),
    ),
  );
}

/** The requested part of the output of solc's standard JSON interface. */
interface CompilerOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<
      string,
      Record<
        string,
        { readonly abi: readonly unknown[]; readonly evm: { readonly bytecode: { readonly object: string } } }
      >
    >
  >;
}

function importSource(name: string): { readonly contents: string } | { readonly error: string } {
  try {
    return { contents: readSource(name) };
  } catch (error) {
    return { error: String(error) };
  }
}

function readSource(name: string): string {
  const file = name.startsWith(LIBRARY)
    ? path.join(LIBRARY_FOLDER, name.slice(LIBRARY.length))
    : path.join(CONTRACTS, name);
  return readFileSync(file, 'utf8');
}

function named(contracts: ReadonlyMap<string, CompiledContract>, name: string): CompiledContract {
  const contract = contracts.get(name);
  if (!contract) throw new Error(`no contract is named ${name}`);
  return contract;
}

if (import.meta.main) {
  for (const [name, made] of [
    ['artifact.json', compileArtifact()],
    ['test/artifact.json', compileTestContracts()],
  ] as const) {
    const file = path.join(CONTRACTS, name);
    const text = `${JSON.stringify(made, null, 2)}\n`;
    if (!process.argv.includes('--check')) await writeFile(file, text);
    else if (readFileSync(file, 'utf8') !== text) {
      console.error(`contracts/${name} is not up to date. Run: node scripts/compile-contracts.ts`);
      process.exitCode = 1;
    }
  }
}
