import { decodeFunctionResult, encodeDeployData, encodeFunctionData, type Abi, type Hex } from 'viem';
import artifact from '../../contracts/artifact.json' with { type: 'json' };
import testArtifact from '../../contracts/test/artifact.json' with { type: 'json' };
import type { CompiledContract } from '../../scripts/compile-contracts.ts';
import { DEPOSIT_FACTORY, depositAddress } from '../../src/rails/evm/deposit.ts';
import { planSweep, type SweepCall, type SweepRequest } from '../../src/rails/evm/sweep.ts';
import { ANVIL_ACCOUNT, startAnvil, type Anvil, type AnvilOptions } from '../anvil.ts';

/** One of anvil's rich accounts, who has nothing to do with any treasury. */
export const STRANGER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const NATIVE = `0x${'0'.repeat(40)}`;
/** Enough for everything here. */
const GAS_LIMIT = 12_000_000n;

export const FACTORY_ABI = abiOf(artifact.contracts.DepositFactory);
export const DEPOSIT_ABI = abiOf(artifact.contracts.Deposit);

/** Contracts that stand in for tokens, treasuries and payers, by name. */
const testContracts: ReadonlyMap<string, CompiledContract> = new Map(Object.entries(testArtifact));

export interface Receipt {
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  readonly contractAddress: string | null;
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
}

export interface Contract {
  readonly address: string;
  send(functionName: string, args?: readonly unknown[], options?: SendOptions): Promise<Receipt>;
  read(functionName: string, args?: readonly unknown[]): Promise<unknown>;
}

export interface SendOptions {
  readonly from?: string;
  readonly valueWei?: bigint;
  readonly gas?: bigint;
}

/** An anvil with the deposit factory where the service expects it. */
export interface DepositChain {
  readonly anvil: Anvil;
  readonly factory: Contract;
  /** The gas of the factory's deployment. */
  readonly deploymentGas: bigint;
  at(address: string, abi: Abi): Contract;
  deploy(name: string, args?: readonly unknown[]): Promise<Contract>;
  send(to: string | null, data: string, options?: SendOptions): Promise<Receipt>;
  /** In wei. */
  balance(address: string): Promise<bigint>;
  code(address: string): Promise<string>;
  /** From an account that can pay by itself; throws where the payment fails. */
  payEther(address: string, wei: bigint): Promise<void>;
  /** The factory's `sweep`, called by somebody who has no part in it. */
  sweep(treasury: string, indexes: readonly number[], tokens: readonly string[], gas?: bigint): Promise<Receipt>;
  /** Sends the calls of a plan one after the other, from a stranger, with the gas limits that it names. */
  carryOut(request: SweepRequest): Promise<readonly { readonly call: SweepCall; readonly receipt: Receipt }[]>;
}

/** Starts the node; the factory is deployed by the first call of a plan, as an operator would do it. */
export async function startDepositChain(options: AnvilOptions = {}): Promise<DepositChain> {
  const chain = chainOn(await startAnvil(options));
  const treasury = ANVIL_ACCOUNT;
  const deposit = { index: 0, address: depositAddress(treasury, 0), balances: [{ token: null, units: 1n }] };
  const { calls } = planSweep({ treasury, deposits: [deposit], factoryDeployed: false });
  const [deployCall] = calls;
  if (deployCall?.purpose !== 'deploy_factory') throw new Error('the plan does not begin with the factory');
  const receipt = await chain.send(deployCall.to, deployCall.data, { gas: deployCall.gasLimit, from: STRANGER });
  if (!receipt.succeeded) throw new Error('the factory was not deployed');
  if (receipt.gasUsed > deployCall.gasEstimate) throw new Error('the plan states too little gas');
  return { ...chain, deploymentGas: receipt.gasUsed };
}

function chainOn(anvil: Anvil): Omit<DepositChain, 'deploymentGas'> {
  async function send(to: string | null, data: string, options: SendOptions = {}): Promise<Receipt> {
    const { from = ANVIL_ACCOUNT, valueWei = 0n, gas = GAS_LIMIT } = options;
    const transaction = { from, ...(to === null ? {} : { to }), data, value: quantity(valueWei), gas: quantity(gas) };
    // EIP-7966: answers once it is mined.
    return receiptOf(await anvil.rpc('eth_sendTransactionSync', [transaction]));
  }

  function at(address: string, abi: Abi): Contract {
    return {
      address,
      send: (functionName, args = [], options = {}) =>
        send(address, encodeFunctionData({ abi, functionName, args }), options),
      read: async (functionName, args = []) => {
        const data = await anvil.rpc('eth_call', [
          { to: address, data: encodeFunctionData({ abi, functionName, args }) },
          'latest',
        ]);
        return decodeFunctionResult({ abi, functionName, args, data: hexOf(data) });
      },
    };
  }

  const factory = at(DEPOSIT_FACTORY.address, FACTORY_ABI);
  return {
    anvil,
    send,
    at,
    factory,
    payEther: async (address, wei) => {
      const { succeeded } = await send(address, '0x', { valueWei: wei });
      if (!succeeded) throw new Error(`${address} took no ether`);
    },
    sweep: (treasury, indexes, tokens, gas = GAS_LIMIT) =>
      factory.send('sweep', [treasury, indexes.map(BigInt), tokens], { from: STRANGER, gas }),
    deploy: async (name, args = []) => {
      const contract = testContracts.get(name);
      if (!contract) throw new Error(`no contract is named ${name}`);
      const abi = abiOf(contract);
      const receipt = await send(null, encodeDeployData({ abi, bytecode: hexOf(contract.initCode), args }));
      if (receipt.contractAddress === null) throw new Error(`${name} was not deployed`);
      return at(receipt.contractAddress, abi);
    },
    balance: async (address) => BigInt(String(await anvil.rpc('eth_getBalance', [address, 'latest']))),
    code: async (address) => String(await anvil.rpc('eth_getCode', [address, 'latest'])),
    carryOut: async (request) => {
      const done: { call: SweepCall; receipt: Receipt }[] = [];
      for (const call of planSweep(request).calls) {
        done.push({ call, receipt: await send(call.to, call.data, { from: STRANGER, gas: call.gasLimit }) });
      }
      return done;
    },
  };
}

/** The payouts that a sweep could not make, as `failure` writes them. */
export function failures({ logs }: Receipt): readonly string[] {
  const factory = DEPOSIT_FACTORY.address.toLowerCase();
  return logs
    .filter(({ address }) => address === factory)
    .map(({ topics: [, deposit, token] }) => failure(`0x${deposit?.slice(-40)}`, `0x${token?.slice(-40)}`));
}

/** A failed payout: which deposit, and of what. */
export function failure(deposit: string, token: string): string {
  return `${deposit} ${token}`.toLowerCase();
}

/** An address that has nothing and did nothing, another one for each number. */
export function freshAddress(number: bigint): string {
  return `0x${(0xc0ffee0000000000000000000000000000000000n + number).toString(16)}`;
}

function receiptOf(answer: unknown): Receipt {
  // The node's own JSON, in the form of the Ethereum JSON-RPC specification.
  const receipt = answer as {
    status: string;
    gasUsed: string;
    contractAddress: string | null;
    logs: { address: string; topics: string[] }[];
  };
  const { status, gasUsed, contractAddress, logs } = receipt;
  return { succeeded: status === '0x1', gasUsed: BigInt(gasUsed), contractAddress, logs };
}

function abiOf({ abi }: Pick<CompiledContract, 'abi'>): Abi {
  return abi as Abi;
}

function hexOf(value: unknown): Hex {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw new TypeError('expected hex digits');
  return `0x${value.slice(2)}`;
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}

let treasuries = 0n;

/** A treasury that no test of the file has named before. */
export function freshTreasury(): string {
  treasuries += 1n;
  return freshAddress(treasuries);
}
