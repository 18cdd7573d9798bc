// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {Deposit} from "./Deposit.sol";

/// Makes deposits and empties them, many in one call. It keeps nothing and favours nobody: the treasury is part of what
/// a deposit's address is computed from, so that naming another one names other deposits.
contract DepositFactory {
    /// A token, or the treasury, refused; the money is where it was.
    event SweepFailed(address indexed deposit, address indexed token);

    /// What is paid to the zero address is lost.
    error ZeroTreasury();
    /// The call needs a higher gas limit.
    error TooLittleGas();

    /// What one payout may use, so that a token that burns all it is given stops only its own payout. A transfer of a
    /// costly token (rebasing, lending) takes some 200,000.
    uint256 private constant FLUSH_GAS = 300_000;
    /// A call is given 63/64 of what is left at most (EIP-150); 5,000 are for the call itself.
    uint256 private constant GAS_BEFORE_FLUSH = (FLUSH_GAS * 64) / 63 + 5_000;

    Deposit public immutable implementation = new Deposit();

    /// The address that payments number `index` of a treasury go to, whether a contract is there already or not.
    function depositAddress(address treasury, uint256 index) public view returns (address) {
        return
            Clones.predictDeterministicAddressWithImmutableArgs(
                address(implementation),
                abi.encodePacked(treasury),
                bytes32(index)
            );
    }

    /// Pays what the deposits have of each token to their treasury; the zero address stands for the chain's own coin.
    /// Deposits that are not on the chain yet are put there. A payout that fails is told by SweepFailed and stops no other.
    function sweep(address treasury, uint256[] calldata indexes, address[] calldata tokens) external {
        require(treasury != address(0), ZeroTreasury());
        for (uint256 i = 0; i < indexes.length; i++) {
            Deposit deposit = _deploy(treasury, indexes[i]);
            for (uint256 j = 0; j < tokens.length; j++) {
                // Without this a gas limit that is too low, such as an estimate, would look like a token that refuses.
                require(gasleft() >= GAS_BEFORE_FLUSH, TooLittleGas());
                // The reason is not read: a hostile token could make it as long as it likes.
                try deposit.flush{gas: FLUSH_GAS}(tokens[j]) {} catch {
                    emit SweepFailed(address(deposit), tokens[j]);
                }
            }
        }
    }

    function _deploy(address treasury, uint256 index) private returns (Deposit) {
        address deposit = depositAddress(treasury, index);
        if (deposit.code.length == 0) {
            Clones.cloneDeterministicWithImmutableArgs(
                address(implementation),
                abi.encodePacked(treasury),
                bytes32(index)
            );
        }
        return Deposit(payable(deposit));
    }
}
