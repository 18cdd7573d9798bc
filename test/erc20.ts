import { readFileSync } from 'node:fs';
import solc from 'solc';
import { encodeAbiParameters, encodeDeployData, encodeFunctionData, keccak256, toHex, type Abi, type Hex } from 'viem';
import { ANVIL_ACCOUNT, type Anvil } from './anvil.ts';

export interface CompiledContract {
  readonly abi: Abi;
  /** The data of a creating transaction, without constructor arguments. */
  readonly creationCode: Hex;
  /** The code at the address afterwards. */
  readonly runtimeCode: Hex;
}

/** A contract on an anvil, called by its first rich account. */
export interface DeployedContract {
  /** Lower case. */
  readonly address: string;
  /**
   * Sends a transaction to it; answers with its hash. Gas (1,000,000) is given, so that one that will fail is sent all
   * the same.
   */
  send(functionName: string, args: readonly unknown[], options?: SendOptions): Promise<string>;
}

export interface SendOptions {
  readonly valueWei?: bigint;
  readonly gas?: bigint;
}

/**
 * - `ordinary`: as ERC-20 says.
 * - `no_return`: `transfer` returns nothing, like Tether's on Ethereum.
 * - `fee`: keeps one percent of each transfer.
 * - `odd`: each transfer logs five malformed ones before the right one.
 */
export type TokenKind = 'ordinary' | 'no_return' | 'fee' | 'odd';

export interface TestToken extends DeployedContract {
  /** In the token's smallest units. The sender, anvil's first account, has enough of everything. */
  transfer(to: string, amount: bigint): Promise<string>;
}

const TOKEN_CONTRACTS: Readonly<Record<TokenKind, string>> = {
  ordinary: 'OrdinaryToken',
  no_return: 'NoReturnToken',
  fee: 'FeeToken',
  odd: 'OddToken',
};

/** Puts a token on the chain; mines a block where the node does not do so by itself. */
export async function deployToken(anvil: Anvil, kind: TokenKind, decimals = 6): Promise<TestToken> {
  const token = await deployContract(anvil, contractOf('Tokens.sol', TOKEN_CONTRACTS[kind]), [decimals]);
  return { ...token, transfer: (to, amount) => token.send('transfer', [to, amount]) };
}

/**
 * Puts an ordinary token where a well-known one lies on the main chain. It has no logs of its own making, and the
 * sender, anvil's first account, has enough of it.
 */
export async function placeToken(anvil: Anvil, contract: string, decimals: number): Promise<TestToken> {
  const compiled = contractOf('Tokens.sol', TOKEN_CONTRACTS.ordinary);
  const { address } = await deployContract(anvil, compiled, [decimals]);
  await anvil.rpc('anvil_setCode', [contract, await anvil.rpc('eth_getCode', [address, 'latest'])]);
  // `balanceOf` is the contract's first variable.
  const slot = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [ANVIL_ACCOUNT, 0n]));
  const balance = toHex(10n ** BigInt(decimals + 12), { size: 32 });
  await anvil.rpc('anvil_setStorageAt', [contract, slot, balance]);
  const token = contractAt(anvil, compiled.abi, contract);
  return { ...token, transfer: (to, amount) => token.send('transfer', [to, amount]) };
}

/** Puts a contract on the chain; mines a block where the node does not do so by itself. */
export async function deployContract(
  anvil: Anvil,
  { abi, creationCode }: CompiledContract,
  args: readonly unknown[] = [],
): Promise<DeployedContract> {
  const data = encodeDeployData({ abi, bytecode: creationCode, args });
  const hash = await anvil.rpc('eth_sendTransaction', [{ from: ANVIL_ACCOUNT, data, gas: '0x4c4b40' }]);
  if ((await anvil.rpc('eth_getTransactionReceipt', [hash])) === null) await anvil.mine(1);
  const receipt = await anvil.rpc('eth_getTransactionReceipt', [hash]);
  const address = fieldOf(receipt, 'contractAddress');
  if (typeof address !== 'string' || fieldOf(receipt, 'status') !== '0x1') throw new Error('the contract was not made');
  return contractAt(anvil, abi, address);
}

function contractAt(anvil: Anvil, abi: Abi, address: string): DeployedContract {
  return {
    address: address.toLowerCase(),
    send: async (functionName, args, { valueWei = 0n, gas = 1_000_000n } = {}) => {
      const data = encodeFunctionData({ abi, functionName, args });
      const transaction = { from: ANVIL_ACCOUNT, to: address, data, value: toHex(valueWei), gas: toHex(gas) };
      return String(await anvil.rpc('eth_sendTransaction', [transaction]));
    },
  };
}

/** A contract of a file in `test/contracts`. Throws when it does not compile or has no such contract. */
export function contractOf(fileName: string, contractName: string): CompiledContract {
  const compiled = compiledFiles.get(fileName) ?? compileFile(fileName);
  compiledFiles.set(fileName, compiled);
  const contract = compiled.contracts?.[fileName]?.[contractName];
  if (!contract) throw new Error(`${fileName} does not give ${contractName}: ${JSON.stringify(compiled.errors)}`);
  return {
    abi: contract.abi,
    creationCode: `0x${contract.evm.bytecode.object}`,
    runtimeCode: `0x${contract.evm.deployedBytecode.object}`,
  };
}

/** The requested part of the answer of solc's standard JSON interface. */
interface CompilerOutput {
  readonly errors?: readonly unknown[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompilerContract>>>>;
}

interface CompilerContract {
  readonly abi: Abi;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: { readonly object: string };
  };
}

const compiledFiles = new Map<string, CompilerOutput>();

function compileFile(fileName: string): CompilerOutput {
  const content = readFileSync(new URL(`contracts/${fileName}`, import.meta.url), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [fileName]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input)));
  return output;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === field)?.[1] : null;
}
