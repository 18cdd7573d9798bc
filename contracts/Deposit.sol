// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// What stands behind every deposit address: a clone of this contract whose own code ends with the treasury's address.
/// It has no owner, no storage and no way to pay anyone but that treasury, so that anyone may call it.
contract Deposit {
    /// This is the contract that deposits are clones of, and belongs to nobody.
    error NotADeposit();
    /// The token refused, or did as if it had paid; the money is where it was.
    error NothingPaid();

    address private immutable IMPLEMENTATION = address(this);

    /// Money that arrives here could never leave.
    modifier onlyClone() {
        require(address(this) != IMPLEMENTATION, NotADeposit());
        _;
    }

    receive() external payable onlyClone {}

    /// Pays all that this deposit has of a token to the treasury; the zero address stands for the chain's own coin.
    /// Reverts when the token or the treasury refuses, and does nothing when there is nothing to pay. Whether a token paid is
    /// told by the balance alone: some answer nothing (Tether's on Ethereum), some false though they paid (Tether's on Tron),
    /// and money that such an answer undid could never leave.
    function flush(address token) external onlyClone {
        if (token == address(0)) {
            uint256 balance = address(this).balance;
            if (balance != 0) Address.sendValue(treasury(), balance);
        } else {
            uint256 balance = IERC20(token).balanceOf(address(this));
            if (balance == 0) return;
            (bool accepted, ) = token.call(abi.encodeCall(IERC20.transfer, (treasury(), balance)));
            require(accepted && IERC20(token).balanceOf(address(this)) < balance, NothingPaid());
        }
    }

    /// The only address that this deposit can pay.
    function treasury() public view onlyClone returns (address payable) {
        return payable(address(bytes20(Clones.fetchCloneArgs(address(this)))));
    }
}
